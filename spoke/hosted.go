package spoke

import (
	"context"

	"github.com/isolategpt/isolategpt/isc"
)

// hostedConn is the hub's end of a spoke. It tells the host side when a task
// begins and ends, so that nothing is spent, read or remembered outside one.
type hostedConn struct {
	isc.HubConn
	host *host
	end  func() error
	// cause says more of a broken connection than the connection can; nil to
	// leave errors as they are.
	cause func(error) error
	// busy is told when a task begins and ends; nil: nobody wants to know.
	busy func(bool)
}

func (c *hostedConn) Send(ctx context.Context, m isc.ToSpoke) error {
	if task, ok := m.(isc.Task); ok {
		c.host.begin(task)
		c.tell(true)
	}
	return c.explain(ctx, c.HubConn.Send(ctx, m))
}

func (c *hostedConn) Recv(ctx context.Context) (isc.ToHub, error) {
	m, err := c.HubConn.Recv(ctx)
	if _, ok := m.(isc.Result); ok && err == nil {
		c.host.finish()
		c.tell(false)
	}
	return m, c.explain(ctx, err)
}

func (c *hostedConn) tell(busy bool) {
	if c.busy != nil {
		c.busy(busy)
	}
}

func (c *hostedConn) explain(ctx context.Context, err error) error {
	if err == nil || c.cause == nil || ctx.Err() != nil {
		return err
	}
	return c.cause(err)
}

// Close ends the spoke and waits for its end.
func (c *hostedConn) Close() error {
	c.host.finish()
	// What matters is that the spoke is gone; a connection that was closed
	// already is no failure of that.
	_ = c.HubConn.Close()
	return c.end()
}
