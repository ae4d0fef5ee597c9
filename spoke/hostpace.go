package spoke

import (
	"context"
	"errors"
	"time"

	"github.com/isolategpt/isolategpt/internal/pace"
)

// How often a process may call its host side, and how much it may say. Beyond the
// pace it is slowed, beyond the number it is closed.
const (
	paceBurst    = 256                  // calls at once
	paceInterval = 5 * time.Millisecond // for each further one: 200 a second
	paceBytes    = 8 << 20              // at once, and a second beyond that
	maxHostCalls = 4096                 // in a task
	maxStrays    = 8                    // from the end of a task, or the start, to the begin of the next
)

var errFlood = errors.New("spoke: too many calls of the host side")

// hostPace counts calls and slows them down.
type hostPace struct {
	calls, strays int
	number        pace.Bucket
	kibibytes     pace.Bucket
}

func newHostPace() hostPace {
	const kibibytes = paceBytes >> 10
	return hostPace{
		number:    pace.Bucket{Burst: paceBurst, Each: paceInterval},
		kibibytes: pace.Bucket{Burst: kibibytes, Each: time.Second / kibibytes},
	}
}

// begin lets a task have its number of calls. It gives no new burst.
func (p *hostPace) begin() { p.calls, p.strays = 0, 0 }

// next admits one more call of so many bytes after the given wait, or none.
func (p *hostPace) next(size int, running bool, now time.Time) (time.Duration, error) {
	count, most := &p.calls, maxHostCalls
	if !running {
		count, most = &p.strays, maxStrays
	}
	if *count >= most {
		return 0, errFlood
	}
	*count++
	return max(p.number.Take(1, now), p.kibibytes.Take((size+1023)>>10, now)), nil
}

// admit waits until the spoke may make one more call, and says whether it is to be
// looked at: outside of a task nothing is served.
func (h *host) admit(ctx context.Context, size int) (running bool, err error) {
	h.mu.Lock()
	running = h.running
	wait, err := h.pace.next(size, running, time.Now())
	h.mu.Unlock()
	if err == nil {
		err = pace.Rest(ctx, wait)
	}
	return running, err
}
