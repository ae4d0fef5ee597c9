//go:build amd64 || arm64

package sandbox_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// work does what a Go program does that has only descriptors.
func work() error {
	for _, f := range []struct {
		what string
		do   func() error
	}{
		{"threads", threads}, {"garbage", garbage}, {"timers", timers}, {"pipe", pipe}, {"copy", between}, {"deadline", deadline},
		{"generated code", generated}, {"recovered panic", recovered},
	} {
		if err := f.do(); err != nil {
			return fmt.Errorf("%s: %w", f.what, err)
		}
	}
	return nil
}

// threads: as many at once as may be, 500 without the big stacks of cgo or the
// race detector.
func threads() error {
	n := 500
	if bigStacks {
		n = 16
	}
	var ready, done sync.WaitGroup
	gate := make(chan struct{})
	ready.Add(n)
	for range n {
		done.Go(func() {
			runtime.LockOSThread() // and ends with its thread
			ready.Done()
			<-gate
		})
	}
	ready.Wait()
	close(gate)
	done.Wait()
	return nil
}

func garbage() error {
	for range 200 {
		keep = make([]byte, mib)
	}
	keep = nil
	runtime.GC()
	debug.FreeOSMemory()
	return nil
}

var keep []byte

func timers() error {
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() { <-time.After(time.Duration(i) * 100 * time.Microsecond) })
	}
	all.Wait()
	if time.Now().Local().IsZero() {
		return errors.New("no time")
	}
	return nil
}

func pipe() error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	want := bytes.Repeat([]byte("x"), mib)
	sent := make(chan error, 1)
	go func() {
		_, err := io.Copy(w, bytes.NewReader(want))
		sent <- errors.Join(err, w.Close())
	}()
	got, err := io.ReadAll(r)
	if err == nil && !bytes.Equal(got, want) {
		err = errors.New("other bytes")
	}
	return errors.Join(err, <-sent, r.Close())
}

// between: from file to file, which Go tries in shorter ways first.
func between() error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	r2, w2, err := os.Pipe()
	if err != nil {
		return err
	}
	if _, err := io.WriteString(w, "x"); err != nil {
		return err
	}
	_ = w.Close()
	_, err = io.Copy(w2, r)
	_ = w2.Close()
	got, readErr := io.ReadAll(r2)
	if err == nil && string(got) != "x" {
		err = fmt.Errorf("%q", got)
	}
	return errors.Join(err, readErr, r.Close(), r2.Close())
}

// deadline: a descriptor wrapped after confinement is waited for by the poller.
func deadline() error {
	fd, err := unix.FcntlInt(3, unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), "channel")
	defer f.Close()
	if err := f.SetReadDeadline(time.Now().Add(time.Millisecond)); err != nil {
		return err
	}
	if _, err := f.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("read: %w", err)
	}
	return nil
}

// generated: memory becomes code, as a WebAssembly compiler's does.
func generated() error {
	code, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return err
	}
	return errors.Join(unix.Mprotect(code, unix.PROT_READ|unix.PROT_EXEC), unix.Munmap(code))
}

func recovered() (err error) {
	defer func() {
		if recover() == nil {
			err = errors.New("no panic")
		}
	}()
	var nothing *bytes.Buffer
	nothing.Reset() // a fault, which is a signal
	return nil
}

// hoard asks for more and more memory.
func hoard() error {
	var all [][]byte
	for range 1024 {
		all = append(all, bytes.Repeat([]byte{1}, mib))
	}
	return fmt.Errorf("%d MiB", len(all))
}
