// Package pace slows down a peer that says too much: what comes faster than a
// rate waits, beyond a burst that does not.
//
// It guarantees that over any span no more is admitted than a burst and the
// rate, if each waits before the next. It closes nobody.
//
//	b := pace.Bucket{Burst: 64, Each: 10 * time.Millisecond}
//	err := pace.Rest(ctx, b.Take(1, time.Now()))
//
// # Source
//
// Issue 4: a spoke that floods is slowed, then closed.
package pace

import (
	"context"
	"time"
)

// Bucket counts what a peer says, in units such as messages. It is not safe for
// concurrent use.
type Bucket struct {
	// Burst is how many units are admitted at once.
	Burst int
	// Each is what every further one takes.
	Each time.Duration
	// free is when the bucket will be full again: all units that were admitted,
	// one behind the other.
	free time.Time
}

// Take admits n units more, and says how long to rest before they are used.
func (b *Bucket) Take(n int, now time.Time) time.Duration {
	if b.free.Before(now) {
		b.free = now
	}
	b.free = b.free.Add(time.Duration(n) * b.Each)
	return max(0, b.free.Sub(now)-time.Duration(b.Burst)*b.Each)
}

// Rest waits for d, or until ctx ends, which gives its cause.
func Rest(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
