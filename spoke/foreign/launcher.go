package foreign

import (
	"context"
	"errors"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
)

// Launcher starts spokes of [*App] with a program each, which no other spoke has.
// The spoke's operator and its agent, which are this program's own code, run in
// this program; the app's code runs in the confined one alone. A program that ends
// by itself, or does not keep to its protocol, ends its spoke: Recv gives a
// [*spoke.ProcessError], of [ErrLine] or [ErrMemory] if it is for that.
//
// It demands what [Start] does, and what a spec requires beyond that. The hosts of
// the manifest are the program's if the spec has a way to remote hosts; each
// connection is asked about there, while a task runs, and ends at the end of the
// call in which it was made.
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
		return app.launch(ctx, spec)
	case l.Other != nil:
		return l.Other.Launch(ctx, spec)
	default:
		return nil, &spoke.UnmetError{
			Isolation: isc.Isolation{Name: kind, Layers: []isc.Layer{{Name: "program", Detail: "the app is none of package foreign"}}},
			Missing:   isc.FullIsolation | spec.Require,
		}
	}
}

func (a *App) launch(ctx context.Context, spec spoke.Spec) (*spoke.Instance, error) {
	s := newSession(a)
	cfg := a.cfg
	cfg.Require |= spec.Require
	cfg.Prefer |= spec.Prefer
	if spec.HTTP != nil && len(a.manifest.Hosts) > 0 {
		cfg.Hosts, cfg.Authorize, cfg.tasks = a.manifest.Hosts, s.authorize, &s.connections
	}
	var err error
	if s.program, err = Start(ctx, cfg); err != nil {
		return nil, err
	}
	// The operator is trusted and runs here; the app is behind the session.
	spec.App, spec.Require, spec.Prefer = s, 0, 0
	inner, err := spoke.InProcess().Launch(ctx, spec)
	if err != nil {
		return nil, errors.Join(err, s.program.Close())
	}
	s.begin(inner.Conn.Close)
	return &spoke.Instance{Conn: &conn{HubConn: inner.Conn, session: s}, Isolation: s.program.Isolation()}, nil
}

// conn is the hub's end of a spoke.
type conn struct {
	isc.HubConn
	session *session
}

// Send says why the spoke is gone, if it is.
func (c *conn) Send(ctx context.Context, m isc.ToSpoke) error {
	return c.explain(ctx, c.HubConn.Send(ctx, m))
}

// Recv says why the spoke is gone, if it is.
func (c *conn) Recv(ctx context.Context) (isc.ToHub, error) {
	m, err := c.HubConn.Recv(ctx)
	return m, c.explain(ctx, err)
}

func (c *conn) explain(ctx context.Context, err error) error {
	died := c.session.dead.Load()
	if err == nil || died == nil || ctx.Err() != nil {
		return err
	}
	return died
}

// Close ends the spoke, and its program by the ladder of [Program.Close].
func (c *conn) Close() error { return errors.Join(c.HubConn.Close(), c.session.close()) }
