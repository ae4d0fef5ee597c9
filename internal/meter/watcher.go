package meter

import (
	"sync"
	"time"
)

// maxUnseen is how often in a row a process may not be seen. One that executes a
// program is not for as long as it takes to end its other threads.
const maxUnseen = 25

// Watcher looks at processes and ends those that hold more than they may. Its one
// goroutine is there while a process is watched. The zero value is ready. Its
// methods and those of its watches may be used by several goroutines at once.
type Watcher struct {
	mu      sync.Mutex
	watches map[*Watch]struct{}
	next    time.Time     // when the goroutine wakes; zero: it is awake
	sooner  chan struct{} // to wake it before
	ended   chan struct{} // closed by the goroutine when nothing is watched any more
}

// Watch is one process that is watched. What it holds is guarded by its watcher.
type Watch struct {
	watcher *Watcher
	meter   *Meter
	kill    func()

	bound  Bound
	busy   bool
	began  bool // it was busy since the last look
	due    time.Time
	pause  time.Duration // from the last look to the next
	last   Reading
	unseen int
	reason error
}

// Watch begins to watch a process. It takes the meter, which it closes. The
// process is busy until [Watch.Busy] says otherwise. kill is called once at most,
// by the goroutine that watches all others too, so it must not wait; it may still
// be called while [Watch.End] returns, and must do nothing to a process that has
// ended.
func (w *Watcher) Watch(m *Meter, b Bound, kill func()) *Watch {
	one := &Watch{watcher: w, meter: m, kill: kill, bound: b, busy: true, due: time.Now()}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.watches) == 0 {
		w.watches = map[*Watch]struct{}{one: {}}
		w.sooner, w.ended = make(chan struct{}, 1), make(chan struct{})
		go w.run(w.sooner, w.ended)
	} else {
		w.watches[one] = struct{}{}
		w.hurry(one.due)
	}
	return one
}

// hurry sees to it that the goroutine wakes in time. The caller holds w.mu.
func (w *Watcher) hurry(due time.Time) {
	if w.next.IsZero() || !due.Before(w.next) {
		return // it is awake, or will be
	}
	w.next = due
	select {
	case w.sooner <- struct{}{}:
	default:
	}
}

// Busy says whether the process does what it was asked to. If not, it is looked
// at less often.
func (one *Watch) Busy(busy bool) {
	w := one.watcher
	w.mu.Lock()
	defer w.mu.Unlock()
	if one.busy = busy; !busy {
		return
	}
	one.began = true
	if soon := time.Now().Add(lookSoon); one.due.After(soon.Add(lookBusy)) {
		one.due = soon
		w.hurry(soon)
	}
}

// Bind changes what the process may hold.
func (one *Watch) Bind(b Bound) {
	w := one.watcher
	w.mu.Lock()
	defer w.mu.Unlock()
	one.bound, one.due = b, time.Now()
	w.hurry(one.due)
}

// Err is why the process was ended: [ErrMemory], [ErrThreads], [ErrUnseen], or nil
// if it was not.
func (one *Watch) Err() error {
	one.watcher.mu.Lock()
	defer one.watcher.mu.Unlock()
	return one.reason
}

// End ends the watch. With the last one the watcher's goroutine ends, and End
// waits for that. It may be called again.
func (one *Watch) End() {
	w := one.watcher
	w.mu.Lock()
	if _, ok := w.watches[one]; !ok {
		w.mu.Unlock()
		return
	}
	delete(w.watches, one)
	one.meter.Close()
	var ended chan struct{}
	if len(w.watches) == 0 {
		ended = w.ended
		close(w.sooner)
		w.sooner, w.next = nil, time.Time{}
	}
	w.mu.Unlock()
	if ended != nil {
		<-ended
	}
}
