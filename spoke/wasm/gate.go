package wasm

import (
	"context"
	"sync"
)

// gate knows what runs in a program, so that it can be ended before what it runs
// in is taken away.
type gate struct {
	mu      sync.Mutex
	closed  bool
	last    int
	cancels map[int]context.CancelCauseFunc
	inside  sync.WaitGroup
}

// enter lets something in, which cancel ends. Leave must be called at its end.
func (g *gate) enter(cancel context.CancelCauseFunc) (leave func(), err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, ErrClosed
	}
	if g.cancels == nil {
		g.cancels = map[int]context.CancelCauseFunc{}
	}
	g.last++
	n := g.last
	g.cancels[n] = cancel
	g.inside.Add(1)
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.cancels, n)
		g.inside.Done()
	}, nil
}

// close lets nothing in any more, ends what is inside, and waits for it.
func (g *gate) close() {
	g.mu.Lock()
	g.closed = true
	for _, cancel := range g.cancels {
		cancel(ErrClosed)
	}
	g.mu.Unlock()
	g.inside.Wait()
}
