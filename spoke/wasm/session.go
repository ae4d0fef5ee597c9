package wasm

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
)

// session is a single app whose spoke ends with its instance.
type session struct {
	*single
	end    func() error // ends the spoke; set before the first call
	dead   atomic.Pointer[EndedError]
	ending sync.WaitGroup
}

func newSession(app *App, first *instance) *session {
	return &session{single: newSingle(app, first)}
}

// Handle serves one call. When the instance dies of it, the spoke does too, and
// with it the context of the call.
func (s *session) Handle(ctx context.Context, c spoke.Call) (json.RawMessage, error) {
	body, err := s.single.Handle(ctx, c)
	died, ok := errors.AsType[*EndedError](err)
	if ok && s.dead.CompareAndSwap(nil, died) {
		s.ending.Go(func() { _ = s.end() })
		<-ctx.Done()
	}
	return body, err
}

// close ends the instance. The spoke must have ended.
func (s *session) close() {
	s.ending.Wait()
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	s.drop()
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

// Close ends the spoke and its instance.
func (c *conn) Close() error {
	err := c.HubConn.Close()
	c.session.close()
	return err
}
