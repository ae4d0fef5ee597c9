//go:build linux && (amd64 || arm64)

package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// marker is the variable that a spoke is started with. [oneArena] may be another.
const marker = "ISOLATEGPT_SPOKE"

// before is what only files tell, read while there are any. A nil error is a yes.
type before struct {
	cleanEnv, fewFiles, ownGroup, namespaced error

	file, dir, program string // things that exist and are not declared; "": none found
}

func lookAround(p Profile) (b before) {
	b.namespaced = namespaced()
	b.cleanEnv = cleanEnv()
	b.fewFiles = fewFiles(p.Channels)
	if group := unix.Getpgrp(); group != os.Getpid() && group != 0 {
		b.ownGroup = fmt.Errorf("process group %d is not its own", group)
	}
	b.file = undeclared(p.Program, "/etc/passwd", "/etc/hosts", "/etc/group", "/proc/self/environ", "/proc/self/exe")
	b.dir = undeclared(p.Program, "/tmp", "/var/tmp", "/dev/shm", "/etc", "/usr")
	b.program = undeclared(p.Program, "/bin/sh", "/usr/bin/env", "/bin/true", "/proc/self/exe")
	return b
}

// undeclared is the first of paths that exists and that the program did not ask
// for.
func undeclared(p *Program, paths ...string) string {
	for _, name := range paths {
		if _, err := os.Stat(name); err == nil && !p.declares(name) {
			return name
		}
	}
	return ""
}

func (p *Program) declares(name string) bool {
	if p == nil {
		return false
	}
	for _, declared := range slices.Concat([]string{p.Path}, p.Run, p.Read, p.Write) {
		if name == declared || strings.HasPrefix(name, strings.TrimSuffix(declared, "/")+"/") {
			return true
		}
	}
	return false
}

func cleanEnv() error {
	env, err := os.ReadFile("/proc/self/environ")
	if err != nil {
		return err
	}
	for variable := range bytes.SplitSeq(bytes.TrimRight(env, "\x00"), []byte{0}) {
		if name, _, _ := bytes.Cut(variable, []byte("=")); len(name) > 0 && string(name) != marker && string(name) != oneArena {
			return fmt.Errorf("started with the variable %q", name)
		}
	}
	return nil
}

// fewFiles: standard streams, the connections, and what Go's runtime opens.
func fewFiles(channels int) error {
	dir, err := os.Open("/proc/self/fd")
	if err != nil {
		return err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return err
	}
	var polls, events int
	for _, name := range names {
		fd, err := strconv.Atoi(name)
		if err != nil {
			return err
		}
		if uintptr(fd) == dir.Fd() || fd >= 3 && fd < 3+channels {
			continue
		}
		link, err := os.Readlink("/proc/self/fd/" + name)
		if err != nil {
			return err
		}
		switch {
		case fd <= 2 && (link == "/dev/null" || strings.HasPrefix(link, "pipe:") || strings.HasPrefix(link, "socket:")):
		case fd > 2 && link == "anon_inode:[eventpoll]" && polls == 0:
			polls++
		case fd > 2 && link == "anon_inode:[eventfd]" && events == 0:
			events++
		case fd > 2 && strings.HasPrefix(link, "/sys/fs/cgroup/") && slices.Contains(cgroupFiles, path.Base(link)):
		default:
			return fmt.Errorf("descriptor %d is %s", fd, link)
		}
	}
	return nil
}

// cgroupFiles are kept open by Go's runtime, to learn how many processors it may
// use.
var cgroupFiles = []string{"cpu.max", "cpu.cfs_quota_us", "cpu.cfs_period_us"}

func ownProcess(p Profile) error {
	switch parent := os.Getppid(); {
	case p.Namespaces && parent == 0 && os.Getpid() == 1: // the parent is outside
		return nil
	case parent == p.Hub && p.Hub != os.Getpid():
		return nil
	default:
		return fmt.Errorf("the parent is %d, not the hub %d", parent, p.Hub)
	}
}

// namespaced: first of its pid namespace, alone with the loopback device, and
// root of a user namespace that is not everybody's.
func namespaced() error {
	if os.Getpid() != 1 {
		return fmt.Errorf("it is process %d of its pid namespace", os.Getpid())
	}
	devices, err := os.ReadFile("/proc/self/net/dev")
	if err != nil {
		return err
	}
	for i, line := range strings.Split(strings.TrimSpace(string(devices)), "\n") {
		if name, _, _ := strings.Cut(strings.TrimSpace(line), ":"); i >= 2 && name != "lo" {
			return fmt.Errorf("its net namespace has the device %s", name)
		}
	}
	users, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		return err
	}
	if fields := strings.Fields(string(users)); len(fields) != 3 || fields[0] != "0" || fields[2] == "4294967295" {
		return fmt.Errorf("its user namespace maps %q", users)
	}
	return nil
}
