package wasm

import (
	"context"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
)

// Launcher starts spokes of [*App] with an instance of the module each. The
// spoke's operator and its agent, which are this program's own code, run in this
// program; the app's code runs in the module alone. An instance lives as long as
// its spoke. When it ends by itself, so does the spoke: Recv gives an
// [*EndedError].
//
// It demands [isc.FullIsolation], which probes in the same runtime showed.
// Launching loads the app, if that was not done.
type Launcher struct {
	// Other launches whatever is no *App, such as vanilla spokes. Nil: that is a
	// [*spoke.UnmetError].
	Other spoke.Launcher
}

var _ spoke.Launcher = Launcher{}

// Launch implements [spoke.Launcher].
func (l Launcher) Launch(ctx context.Context, spec spoke.Spec) (*spoke.Instance, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	app, ok := spec.App.(*App)
	switch {
	case ok && app != nil:
		return launch(ctx, app, spec)
	case l.Other != nil:
		return l.Other.Launch(ctx, spec)
	default:
		return nil, &spoke.UnmetError{
			Isolation: isc.Isolation{Name: kind, Layers: []isc.Layer{{Name: "webassembly", Detail: "the app is no module"}}},
			Missing:   isc.FullIsolation | spec.Require,
		}
	}
}

func launch(ctx context.Context, app *App, spec spoke.Spec) (*spoke.Instance, error) {
	p, err := app.load(ctx)
	if err != nil {
		return nil, err
	}
	isolation := p.isolation
	isolation.Lacks = spec.Prefer.Without(isolation.Has)
	if missing := (isc.FullIsolation | spec.Require).Without(isolation.Has); missing != 0 {
		return nil, &spoke.UnmetError{App: app.Manifest().ID, Isolation: isolation, Missing: missing}
	}
	first, err := app.start(ctx)
	if err != nil {
		return nil, err
	}
	s := newSession(app, first)
	// The operator is trusted and runs here; the app is behind the session.
	spec.App, spec.Require, spec.Prefer = s, 0, 0
	inner, err := spoke.InProcess().Launch(ctx, spec)
	if err != nil {
		s.close()
		return nil, err
	}
	s.end = inner.Conn.Close
	return &spoke.Instance{Conn: &conn{HubConn: inner.Conn, session: s}, Isolation: isolation}, nil
}
