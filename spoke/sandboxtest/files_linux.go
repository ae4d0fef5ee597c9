package sandboxtest

import (
	"path"

	"golang.org/x/sys/unix"

	"github.com/isolategpt/isolategpt/isc"
)

// fileAttacks look at files.
func fileAttacks() []attack {
	const g = isc.NoFiles
	return []attack{
		plain("read-passwd", g, "reads /etc/passwd", func(targets) error { return readFile("/etc/passwd") }),
		plain("read-own", g, "reads a file of its own user", func(t targets) error { return readFile(t.File) }),
		plain("read-openat2", g, "the same with openat2", func(t targets) error {
			return closing(unix.Openat2(unix.AT_FDCWD, t.File, &unix.OpenHow{}))
		}),
		plain("open-path", g, "opens a file as a mere place (O_PATH)", func(t targets) error {
			return closing(unix.Open(t.File, unix.O_PATH|unix.O_CLOEXEC, 0))
		}),
		plain("open-device", g, "opens /dev/null", func(targets) error { return closing(unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)) }),
		plain("open-handle", g, "opens a file by its handle, past all directories", openHandle),
		plain("stat", g, "asks for a file's size and times", func(t targets) error {
			var s unix.Stat_t
			return unix.Stat(t.File, &s)
		}),
		plain("statx", g, "the same with statx", func(t targets) error {
			var s unix.Statx_t
			return unix.Statx(unix.AT_FDCWD, t.File, 0, unix.STATX_BASIC_STATS, &s)
		}),
		plain("access", g, "asks whether a file is there", func(t targets) error { return unix.Access(t.File, unix.F_OK) }),
		plain("statfs", g, "asks about a file system", func(t targets) error {
			var s unix.Statfs_t
			return unix.Statfs(t.Dir, &s)
		}),
	}
}

// changeAttacks change files and make new ones.
func changeAttacks() []attack {
	const g = isc.NoFiles
	return []attack{
		plain("chmod", g, "changes a file's mode", func(t targets) error { return unix.Chmod(t.File, 0o640) }),
		plain("chown", g, "changes a file's owner, to the same", func(t targets) error { return unix.Chown(t.File, unix.Getuid(), unix.Getgid()) }),
		plain("utime", g, "changes a file's times", func(t targets) error {
			return unix.UtimesNanoAt(unix.AT_FDCWD, t.File, make([]unix.Timespec, 2), 0)
		}),
		plain("setxattr", g, "adds an attribute to a file", func(t targets) error {
			return unix.Setxattr(t.File, "user.sandboxtest", []byte("x"), 0)
		}),
		plain("write-own", g, "writes to a file of its own user", func(t targets) error { return writeFile(t.File, unix.O_WRONLY) }),
		plain("create", g, "creates a file", func(t targets) error {
			return writeFile(beside(t), unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL)
		}),
		plain("create-unnamed", g, "creates a file without a name (O_TMPFILE)", func(t targets) error {
			return writeFile(t.Dir, unix.O_WRONLY|unix.O_TMPFILE)
		}),
		plain("truncate", g, "empties a file", func(t targets) error { return unix.Truncate(t.File, 0) }),
		plain("memfd", g|isc.MemoryLimit, "makes a file of memory", func(targets) error {
			return closing(unix.MemfdCreate("sandboxtest", unix.MFD_CLOEXEC))
		}),
	}
}

// treeAttacks are on names.
func treeAttacks() []attack {
	const g = isc.NoFiles
	return []attack{
		plain("list-root", g, "lists /", func(targets) error { return list("/") }),
		plain("list-home", g, "lists the home directory", func(t targets) error { return need(t.Home, list) }),
		plain("list-proc", g, "lists all processes", func(targets) error { return list("/proc") }),
		plain("unlink", g, "deletes a file", func(t targets) error { return unix.Unlink(t.File) }),
		plain("rename", g, "renames a file", func(t targets) error { return unix.Rename(t.File, beside(t)) }),
		plain("link", g, "links a file", func(t targets) error { return unix.Link(t.File, beside(t)) }),
		plain("symlink", g, "makes a symbolic link", func(t targets) error { return unix.Symlink("/", beside(t)) }),
		plain("readlink", g, "reads where its own program lies", func(targets) error {
			_, err := unix.Readlink("/proc/self/exe", make([]byte, 256))
			return err
		}),
		plain("inotify", g, "watches a directory", watch),
		plain("fanotify", g, "prepares to watch file systems", func(targets) error {
			return closing(unix.FanotifyInit(unix.FAN_CLASS_NOTIF|unix.FAN_REPORT_FID|unix.FAN_CLOEXEC, unix.O_RDONLY))
		}),
		plain("lease", g, "waits for others to open a file (F_SETLEASE)", lease),
		plain("read-maps", g, "reads its own memory map in /proc", func(targets) error { return readFile("/proc/self/maps") }),
	}
}

// directoryAttacks make and change directories and what is below them.
func directoryAttacks() []attack {
	const g = isc.NoFiles
	return []attack{
		plain("mkdir", g, "makes a directory", func(t targets) error { return unix.Mkdir(beside(t), 0o700) }),
		plain("rmdir", g, "removes a directory", func(t targets) error { return unix.Rmdir(t.Empty) }),
		plain("mknod", g, "makes a named pipe", func(t targets) error {
			return unix.Mknodat(unix.AT_FDCWD, beside(t), unix.S_IFIFO|0o600, 0)
		}),
		plain("chdir", g, "changes its directory", func(t targets) error { return unix.Chdir(t.Dir) }),
		plain("chroot", g, "makes a directory its root", func(t targets) error { return unix.Chroot(t.Dir) }),
		// No such type exists, which only those hear who may mount.
		plain("mount", g, "mounts a file system", func(t targets) error {
			return allowed(unix.Mount("none", t.Empty, "sandboxtest", 0, ""), unix.ENODEV)
		}),
		plain("fsopen", g, "prepares a file system by the newer calls", func(targets) error {
			return closing(unix.Fsopen("tmpfs", unix.FSOPEN_CLOEXEC))
		}),
	}
}

// beside is a name that is free.
func beside(t targets) string { return path.Join(t.Dir, "new") }

func watch(t targets) error {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	if err != nil {
		return err
	}
	_, err = unix.InotifyAddWatch(fd, t.Dir, unix.IN_CREATE)
	return closing(fd, err)
}

func readFile(name string) error {
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	_, err = unix.Read(fd, make([]byte, 64))
	_ = unix.Close(fd)
	return err
}

func writeFile(name string, flags int) error {
	fd, err := unix.Open(name, flags|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	_, err = unix.Write(fd, []byte("x"))
	_ = unix.Close(fd)
	return err
}

func list(name string) error {
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	_, err = unix.Getdents(fd, make([]byte, 4096))
	_ = unix.Close(fd)
	return err
}

func lease(t targets) error {
	fd, err := unix.Open(t.File, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	_, err = unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_RDLCK)
	_ = unix.Close(fd) // which ends it
	return err
}

func openHandle(t targets) error {
	if len(t.Handle) == 0 {
		return errAbsent
	}
	return closing(unix.OpenByHandleAt(unix.AT_FDCWD, unix.NewFileHandle(int32(t.HandleType), t.Handle), unix.O_RDONLY|unix.O_CLOEXEC))
}
