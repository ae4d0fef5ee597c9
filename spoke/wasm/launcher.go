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
// Launching loads the app, if that was not done, and returns when its context
// ends, whatever the loading does.
type Launcher struct {
	// Waive is what modules may lack, by name: [isc.CrashIsolation] and
	// [isc.MemoryLimit], for those with [Config.Compile].
	Waive isc.Guarantees
	// Other launches whatever is no *App, such as vanilla spokes. Nil: that is a
	// [*spoke.UnmetError].
	Other spoke.Launcher
}

var (
	_ spoke.Launcher = Launcher{}
	_ spoke.Prober   = Launcher{}
)

// Launch implements [spoke.Launcher].
func (l Launcher) Launch(ctx context.Context, spec spoke.Spec) (*spoke.Instance, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	app, ok := spec.App.(*App)
	switch {
	case ok && app != nil:
		return l.launch(ctx, app, spec)
	case l.Other != nil:
		return l.Other.Launch(ctx, spec)
	default:
		none := isc.Isolation{Name: kind, Layers: []isc.Layer{{Name: "webassembly", Detail: "the app is no module"}}}
		return nil, &spoke.UnmetError{App: idOf(spec.App), Isolation: none.Preferring(spec.Prefer), Missing: l.demands(spec)}
	}
}

// Probe implements [spoke.Prober]: it is what a module with the zero [Config]
// runs in.
func (Launcher) Probe(ctx context.Context) (isc.Isolation, error) {
	c := Config{}.orDefault()
	p, err := newProgram(ctx, c)
	if err != nil {
		return isc.Isolation{}, err
	}
	defer p.close()
	return p.probe(ctx, c)
}

// demands is what a module must have that is launched so.
func (l Launcher) demands(spec spoke.Spec) isc.Guarantees {
	return isc.FullIsolation.Without(l.Waive) | spec.Require
}

// idOf is the app's id for an error; "" if it does not say.
func idOf(a spoke.App) (id isc.AppID) {
	defer func() {
		if recover() != nil {
			id = ""
		}
	}()
	if a == nil {
		return ""
	}
	return a.Manifest().ID
}

func (l Launcher) launch(ctx context.Context, app *App, spec spoke.Spec) (*spoke.Instance, error) {
	loaded, err := app.load(ctx)
	if err != nil {
		return nil, err
	}
	isolation := loaded.program.isolation.Preferring(spec.Prefer)
	if missing := l.demands(spec).Without(isolation.Has); missing != 0 {
		return nil, &spoke.UnmetError{App: loaded.manifest.ID, Isolation: isolation, Missing: missing}
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
