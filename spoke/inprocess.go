package spoke

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/isolategpt/isolategpt/isc"
)

// stuckAfter is how long Close of an in-process spoke waits for its goroutine.
const stuckAfter = 5 * time.Second

// ErrStuck says that a spoke did not end. An in-process spoke whose handler ignores its
// context cannot be ended by force; its goroutine stays until the handler
// returns. A process spoke that survives SIGKILL for the time that is waited
// gives it too.
var ErrStuck = errors.New("spoke: it does not end")

// InProcess starts spokes as goroutines of this program. It isolates nothing:
// only contexts are kept apart, what one model reads from what another reads.
// An app's code can reach all of the program's memory, files, environment and
// keys, a handler's goroutine that panics ends the program, and a handler that
// ignores its context cannot be ended (Close then gives [ErrStuck] after 5
// seconds). Use it for apps whose code you would import anyway.
func InProcess() Launcher { return inProcess{} }

type inProcess struct{}

func (inProcess) Launch(ctx context.Context, spec Spec) (*Instance, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	isolation := isc.Isolation{Name: "in-process"}.Preferring(spec.Prefer)
	if spec.Require != 0 {
		return nil, &UnmetError{App: idOf(spec.App), Isolation: isolation, Missing: spec.Require}
	}
	h, err := newHost(spec)
	if err != nil {
		return nil, err
	}
	hub, end := isc.Pipe()
	// The context of Launch governs the start; what lives on ends with Close.
	run, cancel := context.WithCancelCause(context.Background())
	g := &goroutine{app: h.manifest.ID, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(g.done)
		defer func() { _ = end.Close() }()
		// The hub sees the connection end, whatever the error was.
		_ = Serve(run, end, h.spec(spec))
	}()
	return &Instance{
		Conn:      &hostedConn{HubConn: hub, host: h, end: g.end},
		Isolation: isolation,
	}, nil
}

type goroutine struct {
	app    isc.AppID
	cancel context.CancelCauseFunc
	done   chan struct{}
	once   sync.Once
}

// errClosed is why the context of a spoke ends.
var errClosed = errors.New("spoke: closed")

func (g *goroutine) end() error {
	g.once.Do(func() { g.cancel(errClosed) })
	timer := time.NewTimer(stuckAfter)
	defer timer.Stop()
	select {
	case <-g.done:
		return nil
	case <-timer.C:
		return fmt.Errorf("%w: app %q: a handler or model ignores its context", ErrStuck, g.app)
	}
}

// Probe implements [Prober]. Nothing holds.
func (inProcess) Probe(context.Context) (isc.Isolation, error) {
	return isc.Isolation{Name: "in-process"}.Preferring(0), nil
}
