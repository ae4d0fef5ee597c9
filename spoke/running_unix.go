//go:build unix

package spoke

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/isolategpt/isolategpt/internal/child"
	"github.com/isolategpt/isolategpt/internal/meter"
	"github.com/isolategpt/isolategpt/internal/sandbox"
	"github.com/isolategpt/isolategpt/isc"
)

// process is a running spoke as its parent holds it.
type process struct {
	cfg       ProcessConfig
	isolation isc.Isolation
	app       isc.AppID // once it is assigned
	child     *child.Child
	hub       *os.File // this side's ends
	host      *os.File

	run    context.Context // of what the host side does for it
	cancel context.CancelCauseFunc
	owned  sync.WaitGroup
	taken  chan struct{} // closed when it is kept ready no longer
	once   sync.Once
	ending chan struct{} // closed when it is asked to end
	seen   atomic.Pointer[meter.Watch]
	err    error
}

// startProcess makes the two connections and executes this program.
func startProcess(cfg ProcessConfig, namespaces bool) (*process, error) {
	hub, hubEnd, err := socketPair()
	if err != nil {
		return nil, err
	}
	host, hostEnd, err := socketPair()
	if err != nil {
		_, _ = hub.Close(), hubEnd.Close()
		return nil, err
	}
	defer func() { _, _ = hubEnd.Close(), hostEnd.Close() }()
	c, err := child.Start(child.Config{
		Name: "a spoke", Env: spokeEnv(), Grace: cfg.Grace, Namespaces: namespaces,
		Files: []*os.File{hubEnd, hostEnd}, // become hubFD and hostFD
	})
	if err != nil {
		_, _ = hub.Close(), host.Close()
		return nil, err
	}
	p := &process{cfg: cfg, child: c, hub: hub, host: host, taken: make(chan struct{}), ending: make(chan struct{})}
	p.run, p.cancel = context.WithCancelCause(context.Background())
	p.owned.Go(p.watch)
	return p, nil
}

// exchange runs what talks to the process until ctx ends.
func (p *process) exchange(ctx context.Context, talk func() error) error {
	stop := context.AfterFunc(ctx, func() { _ = p.host.SetDeadline(time.Unix(1, 0)) })
	err := talk()
	if !stop() {
		return context.Cause(ctx)
	}
	return err
}

// confine tells the process what to confine itself to and hears what that gave.
func (p *process) confine(ctx context.Context, profile sandbox.Profile) error {
	err := p.exchange(ctx, func() error {
		if err := writeFrame(p.host, &profile); err != nil {
			return err
		}
		return readFrame(p.host, &p.isolation)
	})
	if err == nil || ctx.Err() != nil {
		return err
	}
	// Until now nothing of an app has run, so the words are this program's own.
	p.child.Kill()
	<-p.child.Done()
	return fmt.Errorf("%w, or the process cannot be confined here: it ended before it answered: %s: %s",
		errNoMain, p.child.State(), lastLine(p.child.Output()))
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	s = s[strings.LastIndexByte(s, '\n')+1:]
	return s[:min(len(s), 512)]
}

// assign tells the process what it is, hears that it is that, and serves it.
func (p *process) assign(ctx context.Context, h *host) error {
	p.app = h.manifest.ID
	config := h.config()
	var ready hostReady
	err := p.exchange(ctx, func() error {
		if err := writeFrame(p.host, config); err != nil {
			return err
		}
		return readFrame(p.host, &ready)
	})
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return fmt.Errorf("%w: it ended before it answered: %w", errNoMain, p.cause(err))
	case !ready.Known:
		return errors.New("the program does not pass this app to spoke.Main")
	case ready.Manifest != config.Manifest:
		return errors.New("the app that the program passes to spoke.Main has another manifest")
	}
	p.owned.Go(func() {
		// A host side that is done with the process, for whatever reason, lets
		// the process see that by the channel's end.
		_ = h.serveChannel(p.run, p.host)
		_ = p.host.Close()
	})
	return nil
}

// endsTogether is how long a broken connection waits for its process to be
// reaped, so that the error can say how it ended.
const endsTogether = 500 * time.Millisecond

// cause explains a broken connection by the death of the process.
func (p *process) cause(err error) error {
	select {
	case <-p.ending:
		return err
	default:
	}
	wait := time.Duration(0)
	for _, gone := range []error{io.EOF, io.ErrUnexpectedEOF, isc.ErrClosed, syscall.ECONNRESET, syscall.EPIPE} {
		if errors.Is(err, gone) {
			wait = endsTogether
		}
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-p.child.Done():
	case <-timer.C:
		return err
	}
	return &ProcessError{App: p.app, State: p.child.State(), Output: p.child.Output(), Err: p.reason(err)}
}
