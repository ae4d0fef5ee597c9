//go:build linux && (amd64 || arm64)

package sandbox

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/isolategpt/isolategpt/isc"
)

// files: open, list, look at and change something that is there and not declared.
func (c *confinement) files() []attempt {
	const breaks = isc.NoFiles
	b := c.before
	if b.file == "" || b.dir == "" {
		return []attempt{{"find a file that is not declared", breaks, func() syscall.Errno { return syscall.ENOENT }, nil}}
	}
	at, gone := unix.AT_FDCWD, c.gone(unix.EROFS)
	fresh := fmt.Sprintf("/isolategpt-attempt-%d", c.held.space)
	out := []attempt{
		opens("list /", breaks, nil, unix.SYS_OPENAT, at, "/", unix.O_RDONLY|unix.O_DIRECTORY, 0),
		opens("list "+b.dir, breaks, gone, unix.SYS_OPENAT, at, b.dir, unix.O_RDONLY|unix.O_DIRECTORY, 0),
		opens("read "+b.file, breaks, gone, unix.SYS_OPENAT, at, b.file, unix.O_RDONLY, 0),
		opens("open "+b.file+" in the new way", breaks, gone, unix.SYS_OPENAT2, at, b.file, make([]byte, 24), 24),
		opens("point at "+b.file, breaks, gone, unix.SYS_OPENAT, at, b.file, unix.O_PATH, 0),
		opens("read /proc/self/environ", breaks, c.gone(), unix.SYS_OPENAT, at, "/proc/self/environ", unix.O_RDONLY, 0),
		call("stat "+b.file, breaks, gone, sysStatAt, at, b.file, make([]byte, 256), 0),
		call("statx "+b.file, breaks, gone, unix.SYS_STATX, at, b.file, 0, unix.STATX_BASIC_STATS, make([]byte, 256)),
		call("access "+b.file, breaks, gone, unix.SYS_FACCESSAT, at, b.file, 0),
		call("chmod "+fresh, breaks, gone, unix.SYS_FCHMODAT, at, fresh, 0),
		call("chown "+fresh, breaks, gone, unix.SYS_FCHOWNAT, at, fresh, 0, 0, 0),
		call("set times of "+fresh, breaks, gone, unix.SYS_UTIMENSAT, at, fresh, 0, 0),
		call("set an attribute of "+fresh, breaks, gone, unix.SYS_SETXATTR, fresh, "user.x", "", 0, 0),
	}
	for _, path := range []string{b.dir + fresh, fresh} {
		out = append(out, attempt{"create " + path, breaks, func() syscall.Errno {
			fd, errno := try(unix.SYS_OPENAT, at, path, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY, 0o600)
			if errno == 0 {
				_ = unix.Close(int(fd))
				_ = unix.Unlink(path)
			}
			return errno
		}, gone}, attempt{"make the directory " + path, breaks, func() syscall.Errno {
			_, errno := try(unix.SYS_MKDIRAT, at, path, 0o700)
			if errno == 0 {
				_ = unix.Rmdir(path)
			}
			return errno
		}, gone})
	}
	return out
}

// gone are refusals of what an empty root does not have, and of more.
func (c *confinement) gone(more ...syscall.Errno) []syscall.Errno {
	if !c.rootless {
		return nil
	}
	return append(more, syscall.ENOENT)
}
