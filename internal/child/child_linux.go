package child

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// executable stays the running program even if its file was replaced.
func executable() (string, error) { return "/proc/self/exe", nil }

const namespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET |
	unix.CLONE_NEWIPC | unix.CLONE_NEWUTS

func attributes(isolated bool) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if isolated {
		a.Cloneflags = namespaces
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	}
	return a
}

// inheritNothing marks every descriptor that this process holds, also those that
// it inherited itself without the mark, to be closed when a program is executed.
// What a child is to have is copied without it.
func inheritNothing() error {
	if unix.CloseRange(3, ^uint(0)>>32, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return nil
	}
	// The kernel is older than 5.11, or a filter does not know the call.
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return fmt.Errorf("which descriptors are open: %w", err)
	}
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
	return nil
}

// await returns when the child was reaped, and tells when it is stopped. Until
// its status is taken the child's number cannot be another's.
func (c *Child) await() {
	const stoppedCode = 5 // CLD_STOPPED
	options := unix.WEXITED | unix.WSTOPPED | unix.WNOWAIT
	for {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, c.process.Pid, &info, options, nil)
		if err == nil && info.Code == stoppedCode {
			close(c.stopped)
			options = unix.WEXITED | unix.WNOWAIT
			continue
		}
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = syscall.Kill(-c.process.Pid, syscall.SIGKILL) // what it left
	c.record(c.process.Wait())
}

var tryNamespaces = sync.OnceValue(func() error {
	var err error
	theForker.hold()
	defer theForker.release()
	theForker.do(func() {
		// Nothing can be executed there, so the one error that says so is the last
		// thing that can go wrong.
		var p *os.Process
		p, err = os.StartProcess("/dev/null/none", []string{"none"}, &os.ProcAttr{Env: []string{}, Sys: attributes(true)})
		if err == nil {
			_, _ = p.Kill(), p.Release()
		}
	})
	if errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	return fmt.Errorf("child: new namespaces: %w", err)
})

// Namespaces says whether new namespaces can be had here: nil, or why not. It is
// tried once in the life of the program.
func Namespaces() error { return tryNamespaces() }
