//go:build linux && (amd64 || arm64)

package sandbox

import (
	"errors"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/isolategpt/isolategpt/isc"
)

// call is an attempt that is one call.
func call(what string, breaks isc.Guarantees, refusals []syscall.Errno, nr uintptr, args ...any) attempt {
	return attempt{what, breaks, func() syscall.Errno {
		_, errno := try(nr, args...)
		return errno
	}, refusals}
}

// opens is an attempt whose result is a descriptor, which is closed.
func opens(what string, breaks isc.Guarantees, refusals []syscall.Errno, nr uintptr, args ...any) attempt {
	return attempt{what, breaks, func() syscall.Errno {
		fd, errno := try(nr, args...)
		if errno == 0 {
			_ = unix.Close(int(fd))
		}
		return errno
	}, refusals}
}

var errReachable = errors.New("namespaces alone keep it not out")

// outside is what the namespaces keep out by themselves. It is tried when they
// are all that there is.
func (c *confinement) outside() error {
	route := func() syscall.Errno {
		fd, errno := try(unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
		if errno != 0 {
			return errno
		}
		defer unix.Close(int(fd))
		to := inet(192, 9)
		_, errno = try(unix.SYS_CONNECT, int(fd), to, len(to))
		return errno
	}
	gone := []syscall.Errno{syscall.ENOENT}
	for _, a := range []attempt{
		opens("read "+c.before.file, 0, gone, unix.SYS_OPENAT, unix.AT_FDCWD, c.before.file, unix.O_RDONLY, 0),
		// A root that still lies on top of this one is what the parent of / is.
		opens("read above /", 0, gone, unix.SYS_OPENAT, unix.AT_FDCWD, "/.."+c.before.file, unix.O_RDONLY, 0),
		call("signal the hub", 0, []syscall.Errno{syscall.ESRCH}, unix.SYS_KILL, c.outsider(), 0),
		{"reach a host", 0, route, []syscall.Errno{syscall.ENETUNREACH}},
	} {
		if err := a.refused(); err != nil {
			return fmt.Errorf("%w: %w", errReachable, err)
		}
	}
	return nil
}
