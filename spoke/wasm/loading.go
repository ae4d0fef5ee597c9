package wasm

import (
	"context"

	"github.com/isolategpt/isolategpt/isc"
)

// loading is a module on its way, or one that is there. It goes on whoever waits
// for it.
type loading struct {
	cancel context.CancelCauseFunc
	done   chan struct{} // closed when the rest is set
	// What came of it.
	program  *program
	manifest isc.Manifest
	err      error
}

// load waits for the module, and begins to load it, if nobody did.
func (a *App) load(ctx context.Context) (*loading, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	l, err := a.begin(ctx)
	if err != nil {
		return nil, err
	}
	select {
	case <-l.done:
		return l, l.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (a *App) begin(ctx context.Context) (*loading, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil, ErrClosed
	}
	if a.loading == nil {
		ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
		a.loading = &loading{cancel: cancel, done: make(chan struct{})}
		go a.finish(ctx, a.loading)
	}
	return a.loading, nil
}

// finish loads the module. After an error the next one tries again.
func (a *App) finish(ctx context.Context, l *loading) {
	defer l.cancel(nil)
	program, err := compile(ctx, a.code, a.config)
	var m isc.Manifest
	if err == nil {
		m, err = program.manifest(ctx, a.config)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if err == nil && a.closed {
		err = ErrClosed
	}
	if err != nil && program != nil {
		program.close()
		program = nil
	}
	if err != nil && a.loading == l {
		a.loading = nil
	}
	l.program, l.manifest, l.err = program, m, err
	close(l.done)
}

// close ends what was loaded, or what is being loaded. Its app is closed already,
// which keeps a loading that ends later from leaving anything.
func (l *loading) close() {
	l.cancel(ErrClosed)
	select {
	case <-l.done:
		if l.program != nil {
			l.program.close()
		}
	default:
	}
}

// manifest is that of the module, in an instance which is used for nothing else.
// It is third-party, whatever it says.
func (p *program) manifest(ctx context.Context, c Config) (isc.Manifest, error) {
	var id isc.AppID
	if c.Manifest != nil {
		id = c.Manifest.ID
	}
	i, err := p.start(ctx, id, c.Timeout)
	if err != nil {
		return isc.Manifest{}, err
	}
	defer i.close()
	m, err := i.manifest(ctx)
	if err == nil {
		err = c.accepts(m)
	}
	return m, err
}
