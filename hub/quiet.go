package hub

import (
	"context"
	"errors"
	"sync"
	"time"
)

// errSilent says that a spoke said nothing, or did not listen, for too long.
var errSilent = errors.New("hub: spoke silent for too long")

// quiet bounds how long a spoke may say nothing. While the hub is at work for it,
// so that there is nothing for it to say, the time stands still; then it begins
// anew. Watching is for one goroutine, working for any.
type quiet struct {
	limit time.Duration

	mu       sync.Mutex
	working  int
	timer    *time.Timer // of the watch that goes on
	deadline time.Time
}

// watch is a context that ends with [errSilent] when the time is up.
func (q *quiet) watch(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.deadline = time.Now().Add(q.limit)
	q.timer = time.AfterFunc(q.limit, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if q.working == 0 && !time.Now().Before(q.deadline) {
			cancel(errSilent)
		}
	})
	if q.working > 0 {
		q.timer.Stop()
	}
	return ctx, func() {
		q.mu.Lock()
		q.timer.Stop()
		q.timer = nil
		q.mu.Unlock()
		cancel(nil)
	}
}

// work lets the time stand still until done is called.
func (q *quiet) work() (done func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.working++
	if q.timer != nil {
		q.timer.Stop()
	}
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if q.working--; q.working == 0 && q.timer != nil {
			q.deadline = time.Now().Add(q.limit)
			q.timer.Reset(q.limit)
		}
	}
}
