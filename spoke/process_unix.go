//go:build unix

package spoke

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/isolategpt/isolategpt/isc"
)

// process is a running spoke as its parent holds it.
type process struct {
	cfg    ProcessConfig
	app    isc.AppID
	cmd    *exec.Cmd
	hub    *os.File // this side's ends
	host   *os.File
	output tail

	cancel context.CancelCauseFunc // of what the host side does for it
	owned  sync.WaitGroup
	dead   chan struct{} // closed when the process was reaped
	once   sync.Once
	ending chan struct{} // closed when it is asked to end
	err    error
}

func (l processLauncher) launch(ctx context.Context, spec Spec) (*Instance, error) {
	if !mainCalled.Load() {
		return nil, errNoMain
	}
	h, err := newHost(spec)
	if err != nil {
		return nil, err
	}
	p := &process{cfg: l.cfg, app: h.manifest.ID, dead: make(chan struct{}), ending: make(chan struct{})}
	if err := p.start(); err != nil {
		return nil, fmt.Errorf("spoke: starting the process of app %q: %w", p.app, err)
	}
	if err := p.handshake(ctx, h.config()); err != nil {
		return nil, errors.Join(fmt.Errorf("spoke: starting the process of app %q: %w", p.app, err), p.end())
	}
	run, cancel := context.WithCancelCause(context.Background())
	p.cancel = cancel
	p.owned.Go(func() {
		// A host side that is done with the process, for whatever reason, lets
		// the process see that by the channel's end.
		_ = h.serveChannel(run, p.host)
		_ = p.host.Close()
	})
	p.owned.Go(p.watch)
	return &Instance{
		Conn:      &hostedConn{HubConn: isc.NewHubConn(p.hub), host: h, end: p.end, cause: p.cause},
		Isolation: isc.Isolation{Name: "process"},
	}, nil
}

// start makes the two connections and executes this program.
func (p *process) start() error {
	hub, hubEnd, err := socketPair()
	if err != nil {
		return err
	}
	host, hostEnd, err := socketPair()
	if err != nil {
		_, _ = hub.Close(), hubEnd.Close()
		return err
	}
	p.hub, p.host = hub, host
	defer func() { _ = hubEnd.Close() }()
	defer func() { _ = hostEnd.Close() }()
	path, err := executable()
	if err == nil {
		p.cmd = &exec.Cmd{
			Path:        path,
			Args:        os.Args[:1],
			Env:         []string{marker + "=1"},
			ExtraFiles:  []*os.File{hubEnd, hostEnd}, // become hubFD and hostFD
			Stdout:      &p.output,
			Stderr:      &p.output,
			WaitDelay:   p.cfg.Grace, // a grandchild may hold the output open
			SysProcAttr: processAttributes(),
		}
		err = p.run()
	}
	if err != nil {
		_, _ = hub.Close(), host.Close()
	}
	return err
}

// run executes the program and reaps it in one goroutine on one thread, because
// on Linux the death signal comes when the thread that started it ends.
func (p *process) run() error {
	started := make(chan error, 1)
	p.owned.Go(func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err != nil {
			return
		}
		reap(p.cmd)
		close(p.dead)
	})
	return <-started
}

// handshake tells the process what it is and hears that it is that.
func (p *process) handshake(ctx context.Context, config hostConfig) error {
	stop := context.AfterFunc(ctx, func() { _ = p.host.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if err := p.host.SetDeadline(time.Now().Add(p.cfg.StartTimeout)); err != nil {
		return err
	}
	err := writeFrame(p.host, config)
	var ready hostReady
	if err == nil {
		err = readFrame(p.host, &ready)
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("%w: it did not answer within %s", errNoMain, p.cfg.StartTimeout)
	case err != nil:
		return fmt.Errorf("%w: it ended before it answered: %w", errNoMain, err)
	case !ready.Known:
		return errors.New("the program does not pass this app to spoke.Main")
	case ready.Manifest != config.Manifest:
		return errors.New("the app that the program passes to spoke.Main has another manifest")
	case !stop():
		return context.Cause(ctx)
	}
	return p.host.SetDeadline(time.Time{})
}

// runSpoke takes the two inherited connections and serves.
func runSpoke(apps []App) error {
	var files [2]*os.File
	for i, fd := range []int{hubFD, hostFD} {
		// What the app executes does not inherit them.
		syscall.CloseOnExec(fd)
		if err := syscall.SetNonblock(fd, true); err != nil {
			return fmt.Errorf("spoke: descriptor %d: %w", fd, err)
		}
		files[i] = os.NewFile(uintptr(fd), "spoke")
	}
	return serveSpoke(files[0], files[1], apps)
}
