//go:build unix

package spoke

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/isolategpt/isolategpt/internal/meter"
	"github.com/isolategpt/isolategpt/isc"
)

// ProcessLauncher starts spokes as processes. It may be used by several
// goroutines at once. See [Process].
type ProcessLauncher struct {
	cfg    ProcessConfig
	warned sync.Once
	// flat is set once a process without namespaces could be had, and one with
	// them could not.
	flat    atomic.Bool
	warm    warm
	watcher meter.Watcher
	looking looking
}

func (l *ProcessLauncher) launch(ctx context.Context, spec Spec) (*Instance, error) {
	if !mainCalled.Load() {
		return nil, errNoMain
	}
	h, err := newHost(spec)
	if err != nil {
		return nil, err
	}
	ctx, cancel := l.bounded(ctx)
	defer cancel()
	defer l.fill() // afterwards, when it slows nobody down
	instance, err := l.assigned(ctx, h, spec)
	if unmet, ok := errors.AsType[*UnmetError](err); ok {
		unmet.App = h.manifest.ID
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("spoke: starting the process of app %q: %w", h.manifest.ID, err)
	}
	l.warm.recover()
	return instance, nil
}

// assigned is a process that serves h.
func (l *ProcessLauncher) assigned(ctx context.Context, h *host, spec Spec) (*Instance, error) {
	required := l.required() | spec.Require
	p, err := l.warm.take()
	if p == nil && err == nil {
		p, err = l.ready(ctx, required)
	}
	if err != nil {
		return nil, err
	}
	isolation := l.complete(p.isolation, spec.Prefer)
	if missing := required.Without(isolation.Has); missing != 0 {
		return nil, p.fail(&UnmetError{Isolation: isolation, Missing: missing})
	}
	if err := p.assign(ctx, h); err != nil {
		return nil, p.fail(err)
	}
	return &Instance{
		Conn:      &hostedConn{HubConn: isc.NewHubConn(p.hub), host: h, end: p.end, cause: p.cause, busy: p.busy},
		Isolation: isolation,
	}, nil
}

func (l *ProcessLauncher) probe(ctx context.Context) (isc.Isolation, error) {
	if !mainCalled.Load() {
		return isc.Isolation{}, errNoMain
	}
	ctx, cancel := l.bounded(ctx)
	defer cancel()
	defer l.fill()
	p, err := l.ready(ctx, 0)
	if unmet, ok := errors.AsType[*UnmetError](err); ok {
		return unmet.Isolation, nil
	}
	if err != nil {
		return isc.Isolation{}, fmt.Errorf("spoke: probing a process: %w", err)
	}
	return l.complete(p.isolation, 0), p.end()
}

// slowError is why the context of a start ends.
type slowError struct{ cfg ProcessConfig }

func (e slowError) Error() string {
	return fmt.Sprintf("%v: it did not answer within %s", errNoMain, e.cfg.StartTimeout)
}

func (e slowError) Unwrap() error { return errNoMain }

func (l *ProcessLauncher) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, l.cfg.StartTimeout, slowError{l.cfg})
}

// Close ends the processes that are kept ready. Spokes that were launched stay;
// nothing more can be launched.
func (l *ProcessLauncher) Close() error { return l.warm.close() }
