package hub

import (
	"context"
	"errors"
	"sync"
	"time"
)

// errSilent says that a spoke said nothing, or did not listen, for too long.
var errSilent = errors.New("hub: spoke silent for too long")

// silence bounds how long a spoke may say nothing. While the hub is at work for it,
// so that there is nothing for it to say, the time stands still; then it begins
// anew. Watching is for one goroutine, working for any.
type silence struct {
	limit time.Duration

	mu       sync.Mutex
	working  int
	timer    *time.Timer // of the watch that goes on
	deadline time.Time
}

// watch is a context that ends with [errSilent] when the time is up.
func (s *silence) watch(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deadline = time.Now().Add(s.limit)
	s.timer = time.AfterFunc(s.limit, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.working == 0 && !time.Now().Before(s.deadline) {
			cancel(errSilent)
		}
	})
	if s.working > 0 {
		s.timer.Stop()
	}
	return ctx, func() {
		s.mu.Lock()
		s.timer.Stop()
		s.timer = nil
		s.mu.Unlock()
		cancel(nil)
	}
}

// work lets the time stand still until done is called.
func (s *silence) work() (done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.working++
	if s.timer != nil {
		s.timer.Stop()
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.working--; s.working == 0 && s.timer != nil {
			s.deadline = time.Now().Add(s.limit)
			s.timer.Reset(s.limit)
		}
	}
}
