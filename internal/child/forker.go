//go:build unix

package child

import (
	"runtime"
	"sync"
)

// forker runs functions on one thread, which lives while anybody holds it.
type forker struct {
	mu    sync.Mutex
	held  int
	calls chan func()
	ended chan struct{}
}

// theForker starts all children of this program. It is one because the thread
// that it stands for is a fact about the program.
var theForker forker

// hold makes sure of the thread until release.
func (f *forker) hold() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.held++; f.held > 1 {
		return
	}
	calls, ended := make(chan func()), make(chan struct{})
	f.calls, f.ended = calls, ended
	go func() {
		defer close(ended)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		for call := range calls {
			call()
		}
	}()
}

// release lets the thread go. With the last holder it ends.
func (f *forker) release() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.held--; f.held == 0 {
		close(f.calls)
		<-f.ended
	}
}

// do runs call on the thread and waits for it. The caller holds f.
func (f *forker) do(call func()) {
	f.mu.Lock()
	calls := f.calls
	f.mu.Unlock()
	done := make(chan struct{})
	calls <- func() { defer close(done); call() }
	<-done
}
