package meter

import "time"

// run looks at what is due until nothing is watched. It sleeps at least as long as
// lies between two looks at one process, so that looks at many come together.
func (w *Watcher) run(sooner <-chan struct{}, ended chan<- struct{}) {
	defer close(ended)
	buffer := make([]byte, statusBytes)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case _, ok := <-sooner:
			if !ok {
				return
			}
		case <-timer.C:
		}
		due, ok := w.due(sooner)
		for _, one := range due {
			one.look(buffer)
		}
		if !ok {
			return
		}
		timer.Reset(w.sleep(sooner))
	}
}

// due are the watches whose time has come. It says whether there will be more.
func (w *Watcher) due(sooner <-chan struct{}) ([]*Watch, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.sooner != sooner || len(w.watches) == 0 {
		return nil, false
	}
	w.next = time.Time{}
	now := time.Now()
	var out []*Watch
	for one := range w.watches {
		if !one.due.After(now) {
			out = append(out, one)
		}
	}
	return out, true
}

// sleep is how long nothing is due.
func (w *Watcher) sleep(sooner <-chan struct{}) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	pause := lookIdle
	if w.sooner != sooner {
		return 0
	}
	for one := range w.watches {
		pause = min(pause, one.due.Sub(now))
	}
	pause = max(pause, lookSoon)
	w.next = now.Add(pause)
	return pause
}

// look reads what the process holds and ends it if that is too much.
func (one *Watch) look(buffer []byte) {
	r, err := one.meter.read(buffer)
	if one.judge(r, err) {
		one.kill()
	}
}

// judge says whether the process is to be ended, and sets when it is looked at
// again.
func (one *Watch) judge(r Reading, err error) bool {
	w := one.watcher
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, ok := w.watches[one]; !ok || one.reason != nil {
		return false
	}
	busy := one.busy || one.began
	one.began = false
	before := one.pause
	switch {
	case one.bound == Bound{}:
		one.pause = lookSoon
	case err != nil:
		if one.unseen++; one.unseen > maxUnseen {
			one.reason = ErrUnseen
		}
		one.pause = lookSoon
	default:
		one.unseen = 0
		one.reason = one.bound.judge(r)
		one.pause = one.bound.busy(r)
		if !busy {
			one.pause = one.bound.idle(r, one.last, before)
		}
		one.last = r
	}
	if one.reason != nil {
		one.pause = lookIdle // it is ending
	}
	one.due = time.Now().Add(one.pause)
	return one.reason != nil
}
