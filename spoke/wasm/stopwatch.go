package wasm

import (
	"sync"
	"time"
)

// stopwatch ends a guest after the time that it itself has worked. It runs when
// it is made.
type stopwatch struct {
	mu    sync.Mutex
	left  time.Duration
	since time.Time // when it was started last
	timer *time.Timer
}

func newStopwatch(d time.Duration, end func()) *stopwatch {
	return &stopwatch{left: d, since: time.Now(), timer: time.AfterFunc(d, end)}
}

// pause stops it; while the guest waits for the hub, its time does not run.
func (s *stopwatch) pause() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer.Stop() {
		s.left -= time.Since(s.since)
	}
}

// resume lets it run on. Nothing is given back of what is used up.
func (s *stopwatch) resume() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.since = time.Now()
	s.timer.Reset(max(s.left, 0))
}

func (s *stopwatch) stop() { s.timer.Stop() }
