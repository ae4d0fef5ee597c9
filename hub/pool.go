package hub

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/isolategpt/isolategpt/isc"
)

// ErrClosed says that a hub or session was used after Close.
var ErrClosed = errors.New("hub: closed")

// LaunchError says that a spoke could not be started.
type LaunchError struct {
	App isc.AppID // empty: a vanilla spoke
	Err error
}

// Error names the app and the cause.
func (e *LaunchError) Error() string {
	if e.App == "" {
		return fmt.Sprintf("hub: launch vanilla spoke: %v", e.Err)
	}
	return fmt.Sprintf("hub: launch %s: %v", e.App, e.Err)
}

// Unwrap gives the cause.
func (e *LaunchError) Unwrap() error { return e.Err }

// spokeKey says which spoke: an app's, or a vanilla one by its name.
type spokeKey struct {
	app     isc.AppID
	vanilla string
}

// spoke is a running spoke as the operator sees it: a connection.
type spokeConn struct {
	key       spokeKey
	conn      isc.HubConn
	isolation isc.Isolation
	slots     chan struct{} // where it is lent from
	lease     *lease
}

// launchFunc starts a spoke. hub.go composes it, so that the operator imports
// neither spoke nor llm.
type launchFunc func(ctx context.Context, key spokeKey, l *lease) (*spokeConn, error)

// lease is what a spoke may use of the run that it works for now. Its host side
// reads it, at any time and on goroutines of its own; between tasks it is empty.
type lease struct {
	budget   atomic.Pointer[budget]   // what its model's calls count against
	outbound atomic.Pointer[outbound] // what its requests to remote hosts go through
}

// pool keeps the spokes of one session warm, for follow-ups. A spoke is never
// lent to two conversations at once and never to another session.
type pool struct {
	launch   launchFunc
	parallel int
	crashes  *crashes // of the session

	mu     sync.Mutex
	live   map[*spokeConn]struct{} // idle and lent
	idle   map[spokeKey][]*spokeConn
	slots  map[slotKey]chan struct{}
	closed bool
}

func newPool(launch launchFunc, parallel int, c *crashes) *pool {
	return &pool{launch: launch, parallel: parallel, crashes: c, live: map[*spokeConn]struct{}{}, idle: map[spokeKey][]*spokeConn{}, slots: map[slotKey]chan struct{}{}}
}

// slotKey says which spokes share a limit: those of one app at one depth of
// apps asking apps. So who waits for a spoke waits only for those deeper than
// itself, and two apps that ask one another cannot wait for ever.
type slotKey struct {
	spokeKey
	depth int
}

// take lends the spoke used last, or starts one. It waits while as many spokes
// of key are lent at that depth as may be.
func (p *pool) take(ctx context.Context, key spokeKey, depth int, b *budget) (s *spokeConn, fresh bool, err error) {
	p.mu.Lock()
	slots := p.slots[slotKey{key, depth}]
	if slots == nil {
		slots = make(chan struct{}, p.parallel)
		p.slots[slotKey{key, depth}] = slots
	}
	p.mu.Unlock()
	select {
	case slots <- struct{}{}:
	case <-ctx.Done():
		return nil, false, context.Cause(ctx)
	}
	s, err = p.warm(key)
	if s == nil && err == nil {
		fresh = true
		s, err = p.start(ctx, key)
	}
	if err != nil {
		<-slots
		return nil, false, err
	}
	s.lease.budget.Store(b)
	s.slots = slots
	return s, fresh, nil
}

func (p *pool) warm(key spokeKey) (*spokeConn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, ErrClosed
	}
	idle := p.idle[key]
	if len(idle) == 0 {
		return nil, nil
	}
	last := len(idle) - 1
	s := idle[last]
	idle[last] = nil
	p.idle[key] = idle[:last]
	return s, nil
}

func (p *pool) start(ctx context.Context, key spokeKey) (*spokeConn, error) {
	if err := p.crashes.check(key); err != nil {
		return nil, err
	}
	l := new(lease)
	s, err := p.launched(ctx, key, l)
	if err != nil {
		if ctx.Err() == nil && !isBarred(err) {
			p.crashes.add(key)
		}
		return nil, &LaunchError{App: key.app, Err: err}
	}
	s.key, s.lease = key, l
	p.mu.Lock()
	defer p.mu.Unlock()
	p.live[s] = struct{}{}
	return s, nil
}

func (p *pool) launched(ctx context.Context, key spokeKey, l *lease) (s *spokeConn, err error) {
	defer contain("launcher", &err)
	return p.launch(ctx, key, l)
}

// give returns a spoke. One that is not well is closed.
func (p *pool) give(s *spokeConn, well bool) {
	s.lease.budget.Store(nil)
	p.mu.Lock()
	slots := s.slots
	keep := well && !p.closed
	if keep {
		p.idle[s.key] = append(p.idle[s.key], s)
	} else {
		delete(p.live, s)
	}
	p.mu.Unlock()
	if !keep {
		closeQuietly(s)
	}
	<-slots
}

// close ends all idle spokes; those lent are ended when they are given back.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	idle := p.idle
	p.idle = map[spokeKey][]*spokeConn{}
	for _, spokes := range idle {
		for _, s := range spokes {
			delete(p.live, s)
		}
	}
	p.mu.Unlock()
	var all sync.WaitGroup
	for _, spokes := range idle {
		for _, s := range spokes {
			all.Go(func() { closeQuietly(s) })
		}
	}
	all.Wait()
}

// closeQuietly ends a spoke. How it ended is of no use to anyone by then; a
// panic of a launcher's Close must not end the hub.
func closeQuietly(s *spokeConn) {
	var err error
	defer contain("launcher", &err)
	err = s.conn.Close()
}
