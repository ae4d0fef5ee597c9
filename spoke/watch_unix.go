//go:build unix

package spoke

import (
	"context"
	"errors"
	"fmt"

	"github.com/isolategpt/isolategpt/internal/meter"
	"github.com/isolategpt/isolategpt/isc"
)

// memoryWatch is the layer that the watch from outside is.
const memoryWatch = "memory-watch"

// leastHeld is less than any process of ours holds.
const leastHeld = 256 << 10

var errNotHeld = errors.New("its process seems to hold no memory")

// looking is how a launcher looks at its processes. Nil: as [meter.Open] and
// [watchIsProven] do, which only tests change.
type looking struct {
	open  func(pid int) (*meter.Meter, error)
	prove func(namespaces bool) error
}

// boundMemory begins to watch over a process that has just been confined, and lets
// it have the guarantee of bounded memory only if that is possible: proof is nil if
// such a watch was shown to see what it must.
func (l *ProcessLauncher) boundMemory(p *process, proof error) {
	err := proof
	if err == nil {
		err = l.beginWatch(p)
	}
	layer := isc.Layer{Name: memoryWatch, Applied: err == nil}
	if err != nil {
		layer.Detail = err.Error()
		p.isolation.Has = p.isolation.Has.Without(isc.MemoryLimit)
	} else {
		layer.Detail = fmt.Sprintf("killed above %d MiB or %d threads", l.cfg.Memory>>20, meter.MaxThreads)
	}
	p.isolation.Layers = append(p.isolation.Layers, layer)
}

func (l *ProcessLauncher) proveWatch(ctx context.Context, namespaces bool) error {
	if l.looking.prove != nil {
		return l.looking.prove(namespaces)
	}
	return watchIsProven(ctx, namespaces)
}

func (l *ProcessLauncher) beginWatch(p *process) error {
	open := l.looking.open
	if open == nil {
		open = meter.Open
	}
	m, err := open(p.child.Pid())
	if err != nil {
		return err
	}
	r, err := m.Read()
	if err == nil && r.Memory < leastHeld {
		err = fmt.Errorf("%w: %d bytes", errNotHeld, r.Memory)
	}
	if err != nil {
		m.Close()
		return err
	}
	w := l.watcher.Watch(m, meter.Bound{Memory: r.Memory + l.cfg.Memory, Threads: meter.MaxThreads}, p.child.Kill)
	w.Busy(false)
	p.seen.Store(w)
	return nil
}

// busy says that a task begins or has ended.
func (p *process) busy(b bool) {
	if w := p.seen.Load(); w != nil {
		w.Busy(b)
	}
}

// unwatch ends the watch. A process that is gone needs none.
func (p *process) unwatch() {
	if w := p.seen.Load(); w != nil {
		w.End()
	}
}

// reason is why this program killed the process, and what its connection saw then.
func (p *process) reason(err error) error {
	w := p.seen.Load()
	if w == nil || w.Err() == nil {
		return err
	}
	return fmt.Errorf("%w: %w", w.Err(), err)
}
