package main

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// trySystem tries what has no name in Go.
func trySystem(word, value string) error {
	switch word {
	case "signal": // at the parent's death
		return is(deathSignal())(9)
	case "huge": // pages
		return is(unix.PrctlRetInt(unix.PR_GET_THP_DISABLE, 0, 0, 0, 0))(1)
	case "capabilities":
		header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var data [2]unix.CapUserData
		if err := unix.Capget(&header, &data[0]); err != nil {
			return err
		}
		if data != [2]unix.CapUserData{} {
			return fmt.Errorf("%v", data)
		}
		return nil
	case "core":
		var l unix.Rlimit
		if err := unix.Prlimit(0, unix.RLIMIT_CORE, nil, &l); err != nil || l.Max > 1 {
			return fmt.Errorf("%d %w", l.Max, err)
		}
		return nil
	case "pair":
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		return unix.Sendto(fds[0], []byte("x"), 0, &unix.SockaddrUnix{Name: value})
	case "streams":
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
		if err != nil {
			return err
		}
		if unix.Sendto(fds[0], []byte("x"), 0, &unix.SockaddrUnix{Name: "/x"}) == nil {
			return errors.New("sent to an address")
		}
		return nil
	case "buffer":
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return errors.New("no pair")
		}
		return unix.SetsockoptInt(fds[0], unix.SOL_SOCKET, unix.SO_SNDBUF, 1<<24)
	case "futexes":
		return unix.Prctl(78, 1, 1<<10, 0, 0) // PR_FUTEX_HASH, SET_SLOTS
	case "pipesize":
		var p [2]int
		if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
			return errors.New("no pipe")
		}
		_, err := unix.FcntlInt(uintptr(p[0]), unix.F_SETPIPE_SZ, 1<<20)
		return err
	}
	return tryFile(word, value)
}

func is(got int, err error) func(want int) error {
	return func(want int) error {
		if err == nil && got != want {
			err = fmt.Errorf("%d", got)
		}
		return err
	}
}

// tryFile opens what may be read and does to it what is not reading.
func tryFile(word, value string) error {
	f, err := os.Open(value)
	if err != nil {
		return errors.New("not opened, or an unknown word")
	}
	defer f.Close()
	switch word {
	case "lease":
		_, err = unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_RDLCK)
	case "notify":
		_, err = unix.FcntlInt(f.Fd(), unix.F_NOTIFY, 1)
	case "locks":
		err = unix.FcntlFlock(f.Fd(), unix.F_GETLK, &unix.Flock_t{Type: unix.F_WRLCK})
	case "lock":
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	case "watch":
		var fd int
		if fd, err = unix.InotifyInit1(unix.IN_CLOEXEC); err == nil {
			_, err = unix.InotifyAddWatch(fd, value, unix.IN_OPEN)
		}
	case "flags":
		err = unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, 0)
	default:
		return errors.New("unknown word")
	}
	return err
}
