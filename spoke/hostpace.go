package spoke

import (
	"context"
	"errors"
	"time"
)

// How often a process may call its host side. Beyond the pace it is slowed,
// beyond the number it is closed.
const (
	paceBurst    = 256                  // calls at once
	paceInterval = 5 * time.Millisecond // for each further one: 200 a second
	maxHostCalls = 4096                 // from the begin of a task to that of the next
)

var errFlood = errors.New("spoke: too many calls of the host side")

// pace counts calls, and says how long one has to wait. The zero value is that
// of a spoke that has not called yet.
type pace struct {
	calls int
	// free is when the bucket will be full again: the calls that were admitted,
	// each worth one interval, one behind the other.
	free time.Time
}

// begin lets a task have its number of calls. It gives no new burst.
func (p *pace) begin() { p.calls = 0 }

// next admits one more call after the given wait, or none.
func (p *pace) next(now time.Time) (time.Duration, error) {
	if p.calls >= maxHostCalls {
		return 0, errFlood
	}
	p.calls++
	if p.free.Before(now) {
		p.free = now
	}
	p.free = p.free.Add(paceInterval)
	return max(0, p.free.Sub(now)-paceBurst*paceInterval), nil
}

// admit waits until the spoke may make one more call.
func (h *host) admit(ctx context.Context) error {
	h.mu.Lock()
	wait, err := h.pace.next(time.Now())
	h.mu.Unlock()
	if err != nil || wait == 0 {
		return err
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
