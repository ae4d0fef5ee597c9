//go:build linux && (amd64 || arm64)

package sandbox

import (
	"errors"
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
	"kernel.org/pub/linux/libs/security/libcap/psx"
)

var errFirstThread = errors.New("sandbox: the first thread cannot end")

// threads makes calls on every thread of this process at once. In a program with
// cgo the threads are found in /proc, which is what the calls take away: there one
// thread, gone at the end, keeps it.
type threads struct {
	jobs chan func() // nil: no such thread
	done chan struct{}
}

// each makes a call on all threads. If some answer another thing than the rest,
// the process ends.
func (t *threads) each(what string, nr uintptr, args ...uintptr) error {
	var a [6]uintptr
	copy(a[:], args)
	err := t.on(func() error {
		if _, _, errno := psx.Syscall6(nr, a[0], a[1], a[2], a[3], a[4], a[5]); errno != 0 {
			return errno
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("sandbox: %s on all threads: %w", what, err)
	}
	return nil
}

// restrict applies a ruleset to all threads but the one that has to see /proc,
// for which the descriptor's number means a ruleset that leaves it that.
func (t *threads) restrict(l *landlock) error {
	if t.jobs != nil {
		if err := t.on(func() error { return seeProc(l.fd) }); err != nil {
			return err
		}
	}
	return t.each("landlock", unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(l.fd), 0)
}

func (t *threads) on(f func() error) (err error) {
	if t.jobs == nil {
		return f()
	}
	finished := make(chan struct{})
	t.jobs <- func() { defer close(finished); err = f() }
	<-finished
	return err
}

// keep starts the thread that keeps a view of /proc. With own, that is one of its
// own, of the new pid namespace.
func (t *threads) keep(own bool) error {
	jobs, done, begun := make(chan func()), make(chan struct{}), make(chan error)
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocks: the thread ends with this goroutine
		if unix.Gettid() == unix.Getpid() {
			// The first thread would stay. This goroutine keeps it for as long as it
			// takes to get another one.
			begun <- errFirstThread
			<-jobs
			runtime.UnlockOSThread()
			return
		}
		err := apart(own)
		begun <- err
		if err != nil {
			return
		}
		for f := range jobs {
			f()
		}
	}()
	switch err := <-begun; err {
	case nil:
		t.jobs, t.done = jobs, done
		return nil
	case errFirstThread:
		defer close(jobs)
		return t.keep(own)
	default:
		return err
	}
}

// end lets the thread go.
func (t *threads) end() {
	if t.jobs != nil {
		close(t.jobs)
		<-t.done
		t.jobs = nil
	}
}

// apart gives the calling thread its own table of descriptors and, with proc, its
// own mounts with /proc of its own pid namespace.
func apart(proc bool) error {
	if err := unix.Unshare(unix.CLONE_FILES); err != nil {
		return fmt.Errorf("sandbox: a table of descriptors for one thread: %w", err)
	}
	if !proc {
		return nil
	}
	if err := unix.Unshare(unix.CLONE_FS | unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("sandbox: a mount namespace for one thread: %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("sandbox: private mounts: %w", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("sandbox: /proc of the pid namespace, which a program with cgo needs for a moment: %w", err)
	}
	return nil
}

// seeProc makes fd, in the calling thread's table alone, a ruleset that allows to
// read /proc.
func seeProc(fd int) error {
	l, err := newLandlock()
	if err != nil {
		return fmt.Errorf("sandbox: landlock: %w", err)
	}
	defer unix.Close(l.fd)
	if err := l.path("/proc", readRights); err != nil {
		return err
	}
	return unix.Dup3(l.fd, fd, unix.O_CLOEXEC)
}
