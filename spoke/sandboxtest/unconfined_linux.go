package sandboxtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
)

// controlMarker is the variable that makes [Main] serve.
const controlMarker = "ISOLATEGPT_SANDBOXTEST"

type unconfinedLauncher struct{}

func unconfined() spoke.Launcher { return unconfinedLauncher{} }

// Launch starts this program again.
func (unconfinedLauncher) Launch(ctx context.Context, spec spoke.Spec) (*spoke.Instance, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if spec.App == nil || spec.App.Manifest().ID != appID {
		return nil, errors.New("sandboxtest: Unconfined launches nothing but App")
	}
	isolation := isc.Isolation{Name: "unconfined"}.Preferring(spec.Prefer)
	if spec.Require != 0 {
		return nil, &spoke.UnmetError{App: appID, Isolation: isolation, Missing: spec.Require}
	}
	ours, theirs, err := pair()
	if err != nil {
		return nil, err
	}
	defer func() { _ = theirs.Close() }()
	cmd := exec.Command("/proc/self/exe") //nolint:noctx // the context governs the start alone
	cmd.Env = append(os.Environ(), controlMarker+"=1")
	cmd.ExtraFiles = []*os.File{theirs} // becomes hubDescriptor
	if err := cmd.Start(); err != nil {
		_ = ours.Close()
		return nil, fmt.Errorf("sandboxtest: starting this program again: %w", err)
	}
	c := &control{HubConn: isc.NewHubConn(ours), cmd: cmd}
	return &spoke.Instance{Conn: c, Isolation: isolation}, nil
}

func pair() (ours, theirs *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("sandboxtest: a connection: %w", err)
	}
	return os.NewFile(uintptr(fds[0]), "spoke"), os.NewFile(uintptr(fds[1]), "hub"), nil
}

// control is the hub's end of a control.
type control struct {
	isc.HubConn
	cmd  *exec.Cmd
	once sync.Once
	err  error
}

// Close gives the process, and what it has become, time to end by itself.
func (c *control) Close() error {
	c.once.Do(func() {
		closed := c.HubConn.Close()
		force := time.AfterFunc(2*time.Second, func() { _ = c.cmd.Process.Kill() })
		defer force.Stop()
		_ = c.cmd.Wait() // its error is in ProcessState
		c.err = closed
		if state := c.cmd.ProcessState; !c.asked(state) {
			c.err = &spoke.ProcessError{App: appID, State: state.String(), Err: closed}
		}
	})
	return c.err
}

// asked says whether the process ended as one that was asked to.
func (*control) asked(state *os.ProcessState) bool {
	status, ok := state.Sys().(syscall.WaitStatus)
	return ok && (status.Signaled() && status.Signal() == syscall.SIGKILL || status.Exited() && status.ExitStatus() == 0)
}

// serveUnconfined is the life of a control. It ends by force, because a program
// under the race detector takes a second to exit.
func serveUnconfined() {
	if os.Getenv(controlMarker) == "" {
		return
	}
	_ = os.Unsetenv(controlMarker) // for what it starts
	syscall.CloseOnExec(hubDescriptor)
	conn := isc.NewSpokeConn(os.NewFile(hubDescriptor, "hub"))
	err := spoke.Serve(context.Background(), conn, spoke.Spec{App: App()})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}
