//go:build unix

package spoke

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// maxWarmFailures is how many starts and early deaths in a row end the refilling,
// until a Launch has succeeded by itself.
const maxWarmFailures = 3

// warm are processes that are ready and not assigned. Whoever takes one owns it;
// none comes back.
type warm struct {
	mu       sync.Mutex
	idle     []*process
	filling  bool
	failures int
	closed   bool
	cancel   context.CancelFunc // of the start that is under way
	work     sync.WaitGroup     // the filler and the guards
}

// take gives one that is alive, or nil.
func (w *warm) take() (*process, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil, errLauncherClosed
	}
	for _, p := range w.idle {
		select {
		case <-p.child.Done(): // its guard sees to it
		case <-p.child.Stopped():
		default:
			w.remove(p)
			close(p.taken)
			return p, nil
		}
	}
	return nil, nil
}

// remove says whether p was idle. The caller holds w.mu.
func (w *warm) remove(p *process) bool {
	i := slices.Index(w.idle, p)
	if i < 0 {
		return false
	}
	w.idle = slices.Delete(w.idle, i, i+1)
	return true
}

// recover lets the refilling try again.
func (w *warm) recover() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failures = 0
}

// fill starts the filler where something is to do and none is there.
func (l *ProcessLauncher) fill() {
	w := &l.warm
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.filling || !l.short() {
		return
	}
	var ctx context.Context
	ctx, w.cancel = context.WithCancel(context.Background())
	w.filling = true
	w.work.Go(func() { l.refill(ctx) })
}

// short says whether a process is to be started. The caller holds w.mu.
func (l *ProcessLauncher) short() bool {
	w := &l.warm
	return !w.closed && w.failures < maxWarmFailures && len(w.idle) < l.cfg.Warm
}

func (l *ProcessLauncher) refill(ctx context.Context) {
	w := &l.warm
	for {
		w.mu.Lock()
		if !l.short() {
			w.filling = false
			w.cancel()
			w.mu.Unlock()
			return
		}
		w.mu.Unlock()
		p, err := l.readyWithin(ctx)
		w.mu.Lock()
		switch {
		case err != nil:
			w.failures++ // the next Launch meets the reason itself
		case w.closed:
			w.work.Go(func() { _ = p.end() })
		default:
			w.idle = append(w.idle, p)
			w.work.Go(func() { l.guard(p) })
		}
		w.mu.Unlock()
	}
}

func (l *ProcessLauncher) readyWithin(ctx context.Context) (*process, error) {
	ctx, cancel := l.bounded(ctx)
	defer cancel()
	return l.ready(ctx, l.required())
}

// guard replaces a process that dies before it is taken.
func (l *ProcessLauncher) guard(p *process) {
	select {
	case <-p.taken:
		return
	case <-p.child.Done():
	}
	w := &l.warm
	w.mu.Lock()
	mine := w.remove(p)
	if mine {
		w.failures++
	}
	w.mu.Unlock()
	if mine {
		_ = p.end() // it is dead
		l.fill()
	}
}

func (w *warm) close() error {
	w.mu.Lock()
	idle := w.idle
	w.idle, w.closed = nil, true
	if w.cancel != nil {
		w.cancel()
	}
	w.mu.Unlock()
	errs := make([]error, len(idle))
	for i, p := range idle {
		close(p.taken)
		w.work.Go(func() { errs[i] = p.end() })
	}
	w.work.Wait()
	return errors.Join(errs...)
}
