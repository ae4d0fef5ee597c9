package hub

import (
	"context"
	"time"
)

// What a spoke may say without a reply at once, and how far apart beyond that.
const (
	paceBurst = 64
	paceGap   = 10 * time.Millisecond
)

// pace slows down a spoke that floods. The zero value is ready.
type pace struct {
	next time.Time // when all that was said would have been said, a gap apart
}

// wait holds up what comes too fast, until its time has come or ctx ends.
func (p *pace) wait(ctx context.Context) error {
	now := time.Now()
	if p.next.Before(now) {
		p.next = now
	}
	p.next = p.next.Add(paceGap)
	ahead := p.next.Sub(now) - paceBurst*paceGap
	if ahead <= 0 {
		return nil
	}
	timer := time.NewTimer(ahead)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
