package sandboxtest

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// stage is what the attacks of one run are aimed at.
type stage struct {
	shared    targets // what all attempts have in common
	root      string
	attempts  atomic.Int64
	listeners *listeners
}

// unlimited is what a spoke that is linked with C may have besides: the stacks of
// C's threads, of which little is used.
const unlimited = 512 << 20

// newStage makes a stage; what it gives is to be closed, with an error too.
func newStage(memory int64) (*stage, error) {
	s := &stage{listeners: &listeners{}}
	var err error
	if s.root, err = os.MkdirTemp("", "sandboxtest"); err != nil {
		return s, err
	}
	t := targets{Memory: 2*memory + unlimited, Held: memory + memory/4, Hub: os.Getpid(), HubGroup: unix.Getpgrp(), Secret: rand.Text(), Descriptor: -1}
	t.Home, _ = os.UserHomeDir() // without one nothing is tried there
	t.Variable = variable()
	t.Socket, t.Datagram = filepath.Join(s.root, "socket"), filepath.Join(s.root, "datagram")
	t.Abstract = "sandboxtest-" + rand.Text()
	if t.HubAddress, err = readable(); err != nil {
		return s, err
	}
	if t.Descriptor, err = s.leave(t.Secret); err != nil {
		return s, err
	}
	s.shared = t
	return s, s.listeners.open(&s.shared)
}

// variable is the name of one in the environment of this process.
func variable() string {
	for _, v := range os.Environ() {
		if name, value, _ := strings.Cut(v, "="); name != "" && value != "" {
			return name
		}
	}
	return ""
}

// leave opens a file with that content, as a descriptor far from those that a
// child has of its own.
func (s *stage) leave(content string) (int, error) {
	name := filepath.Join(s.root, "descriptor")
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		return -1, err
	}
	f, err := os.Open(name)
	if err != nil {
		return -1, err
	}
	defer func() { _ = f.Close() }()
	for _, from := range []int{300, 30} {
		fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, from)
		if err == nil {
			return fd, nil
		}
	}
	return -1, errors.New("no descriptor can be had")
}

// fresh is a set of targets whose files no other attempt has touched.
func (s *stage) fresh() (targets, error) {
	t := s.shared
	t.Dir = filepath.Join(s.root, strconv.FormatInt(s.attempts.Add(1), 10))
	t.File, t.Empty, t.Marker = filepath.Join(t.Dir, "file"), filepath.Join(t.Dir, "empty"), filepath.Join(t.Dir, "marker")
	if err := os.MkdirAll(t.Empty, 0o700); err != nil {
		return t, err
	}
	if err := os.WriteFile(t.File, []byte("content"), 0o600); err != nil {
		return t, err
	}
	// Some file systems have no handles.
	if h, _, err := unix.NameToHandleAt(unix.AT_FDCWD, t.File, 0); err == nil {
		t.Handle, t.HandleType = h.Bytes(), int(h.Type())
	}
	return t, nil
}

// bequeath lets the descriptor be inherited, which launchers may have undone.
func (s *stage) bequeath() error {
	_, err := unix.FcntlInt(uintptr(s.shared.Descriptor), unix.F_SETFD, 0)
	return err
}

func (s *stage) close() error {
	s.listeners.close()
	var err error
	if s.shared.Descriptor > 0 { // 0: it was not opened
		err = unix.Close(s.shared.Descriptor)
	}
	if s.root != "" {
		err = errors.Join(err, os.RemoveAll(s.root))
	}
	return err
}
