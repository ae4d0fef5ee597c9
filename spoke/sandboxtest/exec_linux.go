package sandboxtest

import (
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/isolategpt/isolategpt/isc"
)

// execAttacks start programs and processes.
func execAttacks() []attack {
	const g = isc.NoExec
	executing := func(name, description string, try func(targets) error) attack {
		a := plain(name, g, description, try)
		a.effect = marked
		return a
	}
	return []attack{
		executing("exec-shell", "becomes a shell", func(t targets) error {
			return unix.Exec(shell, []string{shell, "-c", touch(t)}, nil)
		}),
		executing("exec-memory", "becomes a program that lies in memory alone", execMemory),
		executing("start-process", "starts a shell beside itself", func(t targets) error {
			p, err := os.StartProcess(shell, []string{shell, "-c", touch(t)}, &os.ProcAttr{Env: []string{}})
			if err != nil {
				return err
			}
			_, err = p.Wait()
			return err
		}),
		plain("fork", g, "forks", func(targets) error { return forked(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0) }),
		plain("vfork", g, "forks and waits", func(targets) error {
			return forked(unix.SYS_CLONE, uintptr(unix.CLONE_VFORK)|uintptr(unix.SIGCHLD), 0)
		}),
		plain("clone3", g, "forks by the newer call", func(targets) error { return clone3() }),
		plain("user-namespace", g, "forks into a user namespace, to be root in it", func(targets) error {
			return forked(unix.SYS_CLONE, unix.CLONE_NEWUSER|uintptr(unix.SIGCHLD), 0)
		}),
		plain("clone-parent", g, "forks a child of the hub's", func(targets) error {
			return forked(unix.SYS_CLONE, uintptr(unix.CLONE_PARENT)|uintptr(unix.SIGCHLD), 0)
		}),
	}
}

const shell = "/bin/sh"

// touch is the shell's command that makes the marker, by itself.
func touch(t targets) string { return ": >'" + t.Marker + "'" }

// execMemory executes a script that lies in a file of memory.
func execMemory(t targets) error {
	fd, err := unix.MemfdCreate("sandboxtest", 0)
	if err != nil {
		return err
	}
	if _, err := unix.Write(fd, []byte("#!"+shell+"\n"+touch(t)+"\n")); err != nil {
		return closing(fd, err)
	}
	return closing(fd, execDescriptor(fd))
}

// forked makes a process that ends at once. It does nothing in the child but
// the call that ends it.
//
//go:norace
func forked(number, a, b uintptr) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	pid, _, errno := unix.RawSyscall6(number, a, b, 0, 0, 0, 0)
	if errno != 0 {
		return errno
	}
	if pid == 0 {
		for {
			_, _, _ = unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
		}
	}
	_, _ = unix.Wait4(int(pid), nil, unix.WALL, nil)
	return nil
}
