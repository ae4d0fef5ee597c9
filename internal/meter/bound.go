package meter

import (
	"errors"
	"time"
)

// MaxThreads is how many threads a process of a spoke or of a program may have.
const MaxThreads = 512

// Why a process was ended.
var (
	ErrMemory  = errors.New("it held more memory than it may")
	ErrThreads = errors.New("it had more threads than it may")
	// ErrUnseen: its first thread ended before the others, or it is gone.
	ErrUnseen = errors.New("what it holds could not be seen")
)

// Bound is what a process may hold.
//
// A busy process is looked at every 2 to 20 ms: again when it could have reached
// its bound at the rate at which some processors fill memory. An idle one is
// looked at ever less often, down to every 250 ms, as long as it takes no more.
// So a process may have more for that long, and as much longer as this program
// does not get to look.
type Bound struct {
	Memory  int64 // in bytes; 0: it may hold whatever it does, for now
	Threads int   // 0: likewise
}

// judge gives why a process with that reading is to be ended.
func (b Bound) judge(r Reading) error {
	switch {
	case b.Memory > 0 && r.Memory > b.Memory:
		return ErrMemory
	case b.Threads > 0 && r.Threads > b.Threads:
		return ErrThreads
	}
	return nil
}

const (
	fillRate  = 4 << 20 // bytes a millisecond
	spawnRate = 64      // threads a millisecond
	lookSoon  = 2 * time.Millisecond
	lookBusy  = 20 * time.Millisecond
	lookIdle  = 250 * time.Millisecond
	// What a process that does nothing may take and be idle nevertheless.
	idleBytes   = 256 << 10
	idleThreads = 4
)

// busy is when a process that runs is looked at again.
func (b Bound) busy(r Reading) time.Duration {
	ms := int64(lookBusy / time.Millisecond)
	if b.Memory > 0 {
		ms = min(ms, (b.Memory-r.Memory)/fillRate)
	}
	if b.Threads > 0 {
		ms = min(ms, int64(b.Threads-r.Threads)/spawnRate)
	}
	return max(time.Duration(ms)*time.Millisecond, lookSoon)
}

// idle is when a process that should do nothing is looked at again, if last is
// what it held at the look before, and pause what was between the two.
func (b Bound) idle(r, last Reading, pause time.Duration) time.Duration {
	if r.Memory > last.Memory+idleBytes || r.Threads > last.Threads+idleThreads {
		return b.busy(r)
	}
	return min(2*max(pause, lookBusy), lookIdle)
}
