package egress

import (
	"context"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"time"
)

var errUsedUp = errors.New("egress: proxy: the connection moved all that it may")

// session bounds one connection of a proxy in time and bytes. When a bound is
// reached, its context ends, and with it its connections.
type session struct {
	cancel context.CancelFunc
	idle   *time.Timer
	span   time.Duration
	left   atomic.Int64 // bytes
}

func newSession(cancel context.CancelFunc, cfg ProxyConfig) *session {
	s := &session{cancel: cancel, idle: time.AfterFunc(cfg.Idle, cancel), span: cfg.Idle}
	s.left.Store(cfg.MaxBytes)
	return s
}

func (s *session) end() {
	s.idle.Stop()
	s.cancel()
}

// moved counts n bytes.
func (s *session) moved(n int) error {
	if s.left.Add(-int64(n)) < 0 {
		s.cancel()
		return errUsedUp
	}
	if n > 0 {
		s.idle.Reset(s.span)
	}
	return nil
}

// reader counts what is read of r.
func (s *session) reader(r io.Reader) io.Reader { return counted{r, s} }

type counted struct {
	io.Reader
	session *session
}

func (c counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if over := c.session.moved(n); over != nil {
		return 0, over
	}
	return n, err
}

// pass copies one direction of a tunnel and passes its end on.
func pass(to net.Conn, from io.Reader) {
	_, err := io.Copy(to, from)
	if half, ok := to.(interface{ CloseWrite() error }); ok && err == nil {
		_ = half.CloseWrite()
		return
	}
	_ = to.Close()
}
