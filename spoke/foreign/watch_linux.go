package foreign

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	inside "github.com/isolategpt/isolategpt/internal/foreign"
	"github.com/isolategpt/isolategpt/internal/sandbox"
	"github.com/isolategpt/isolategpt/isc"
)

// A program's memory is looked at again when it could have reached its limit at
// the rate at which some processors fill memory, within bounds.
const (
	fillRate  = 4 << 20 // bytes a millisecond
	lookSoon  = 2 * time.Millisecond
	lookAgain = 20 * time.Millisecond
	// A process that is executing a program cannot be seen for as long as it takes
	// to end its other threads.
	maxUnseen = 10
)

// Before the program is executed its process holds something beyond a bound on
// purpose, and must be seen to do so.
const (
	holdsMore  = 16 << 20
	seenBeyond = 8 << 20
	seenWithin = 2 * time.Second
)

// memoryWatch is the layer that [Program.watchMemory] is.
const memoryWatch = "memory-watch"

var errUnseen = errors.New("memory that its process held on purpose was not seen")

// boundMemory finds out whether the program's memory is bounded, and if so begins
// to watch over it: limits hold its data, and what they forget is seen from here.
func (p *Program) boundMemory(ctx context.Context, to io.Writer) {
	err := p.proveWatch(ctx, to)
	layer := isc.Layer{Name: memoryWatch, Applied: err == nil}
	if err != nil {
		layer.Detail = err.Error()
		if p.meter != nil {
			p.meter.close()
		}
	} else {
		layer.Detail = fmt.Sprintf("killed above %d MiB", p.cfg.Memory>>20)
		p.owned.Go(p.watchMemory)
	}
	limited := slices.ContainsFunc(p.isolation.Layers, func(l isc.Layer) bool { return l.Name == sandbox.DataLimit && l.Applied })
	p.isolation.Has = p.isolation.Has.Without(isc.MemoryLimit)
	if err == nil && limited {
		p.isolation.Has |= isc.MemoryLimit
	}
	p.isolation.Layers = append(p.isolation.Layers, layer)
}

// proveWatch has the process hold memory as an attacker would, and gives nil if
// the meter sees that. The process lets go of it at the word to go.
func (p *Program) proveWatch(ctx context.Context, to io.Writer) error {
	before, absent := p.openMeter()
	if err := inside.WriteFrame(to, inside.Hold{Bytes: holdsMore}); err != nil {
		return err
	}
	if absent != nil {
		return absent
	}
	ctx, cancel := context.WithTimeoutCause(ctx, min(seenWithin, p.cfg.StartTimeout), errUnseen)
	defer cancel()
	tick := time.NewTicker(lookSoon)
	defer tick.Stop()
	for {
		now, err := p.meter.read()
		if err != nil {
			return err
		}
		if now > before+seenBeyond {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %d bytes before, %d then", context.Cause(ctx), before, now)
		case <-tick.C:
		}
	}
}

// openMeter gives what the process holds now.
func (p *Program) openMeter() (int64, error) {
	status := "/proc/" + strconv.Itoa(p.child.Pid()) + "/status"
	if p.cfg.status != "" {
		status = p.cfg.status
	}
	var err error
	if p.meter, err = openMeter(status); err != nil {
		return 0, err
	}
	return p.meter.read()
}

// watchMemory kills the program when it holds more memory than its limit, or when
// that can no longer be seen. Until the limit is set, the process is still this
// program.
func (p *Program) watchMemory() {
	defer p.meter.close()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for unseen := 0; ; {
		select {
		case <-p.child.Done():
			return
		case <-timer.C:
		}
		limit := p.limit.Load()
		now, err := p.meter.read()
		switch {
		case limit == 0:
			now = limit
		case err != nil:
			unseen++
			now = limit
		default:
			unseen = 0
		}
		if now > limit || unseen > maxUnseen {
			p.overMemory.Store(now > limit)
			p.child.Kill() // which does nothing to one that has ended
			return
		}
		timer.Reset(min(max(time.Duration((limit-now)/fillRate)*time.Millisecond, lookSoon), lookAgain))
	}
}
