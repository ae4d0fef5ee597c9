package foreign

import (
	"context"
	"fmt"
	"io"
	"slices"

	inside "github.com/isolategpt/isolategpt/internal/foreign"
	"github.com/isolategpt/isolategpt/internal/meter"
	"github.com/isolategpt/isolategpt/internal/sandbox"
	"github.com/isolategpt/isolategpt/isc"
)

// memoryWatch is the layer that the watch from outside is.
const memoryWatch = "memory-watch"

// bound is what the program may hold.
func (c Config) bound() meter.Bound {
	return meter.Bound{Memory: c.Memory, Threads: meter.MaxThreads}
}

// boundMemory finds out whether the program's memory is bounded, and if so begins
// to watch over it: limits hold its data, and what they forget is seen from here.
// Until it is bound, the process is still this program.
func (p *Program) boundMemory(ctx context.Context, to io.Writer) {
	m, err := p.proveWatch(ctx, to)
	layer := isc.Layer{Name: memoryWatch, Applied: err == nil}
	if err != nil {
		layer.Detail = err.Error()
	} else {
		layer.Detail = fmt.Sprintf("killed above %d MiB or %d threads", p.cfg.Memory>>20, meter.MaxThreads)
		p.seen = p.watcher.Watch(m, meter.Bound{}, p.child.Kill)
	}
	limited := slices.ContainsFunc(p.isolation.Layers, func(l isc.Layer) bool { return l.Name == sandbox.DataLimit && l.Applied })
	p.isolation.Has = p.isolation.Has.Without(isc.MemoryLimit)
	if err == nil && limited {
		p.isolation.Has |= isc.MemoryLimit
	}
	p.isolation.Layers = append(p.isolation.Layers, layer)
}

// proveWatch has the process hold memory as an attacker would, and gives its meter
// if that sees it. The process lets go of it at the word to go.
func (p *Program) proveWatch(ctx context.Context, to io.Writer) (*meter.Meter, error) {
	hold := func() error { return inside.WriteFrame(to, inside.Hold{Bytes: meter.HoldBytes}) }
	m, absent := p.openMeter()
	if absent != nil {
		if err := hold(); err != nil {
			return nil, err
		}
		return nil, absent
	}
	ctx, cancel := context.WithTimeout(ctx, p.cfg.StartTimeout)
	defer cancel()
	if err := m.Prove(ctx, hold); err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

func (p *Program) openMeter() (*meter.Meter, error) {
	if p.cfg.status != "" {
		return meter.OpenFile(p.cfg.status)
	}
	return meter.Open(p.child.Pid())
}
