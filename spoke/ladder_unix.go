//go:build unix

package spoke

import (
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"github.com/isolategpt/isolategpt/isc"
)

// watch ends what this side does for a process that died by itself. The
// connection to the hub stays for a moment, since a result may still be in it;
// then it is closed, so that no descendant that holds the other end can keep
// Recv waiting.
func (p *process) watch() {
	select {
	case <-p.dead:
	case <-p.ending:
		return
	}
	p.cancel(errClosed)
	timer := time.NewTimer(p.cfg.Grace)
	defer timer.Stop()
	select {
	case <-timer.C:
		_ = p.hub.Close()
	case <-p.ending:
	}
}

// end is the ladder. It returns when nothing of the process is left.
func (p *process) end() error {
	p.once.Do(func() {
		close(p.ending)
		if p.cancel != nil {
			p.cancel(errClosed)
		}
		_, _ = p.hub.Close(), p.host.Close()
		if p.err = p.climb(); p.err == nil {
			p.err = p.await()
		}
	})
	return p.err
}

func (p *process) climb() error {
	pid := p.cmd.Process.Pid
	for _, signal := range []syscall.Signal{0, syscall.SIGTERM, syscall.SIGKILL} {
		if signal != 0 && !p.isDead() {
			_ = syscall.Kill(-pid, signal)
		}
		if p.diesWithin(p.cfg.Grace) {
			return nil
		}
	}
	// Wait closes the output WaitDelay after the exit, so a killed process may
	// take one grace more.
	if p.diesWithin(p.cfg.Grace) {
		return nil
	}
	return fmt.Errorf("%w: the process of app %q survived SIGKILL", ErrStuck, p.app)
}

// await waits for the goroutines of this side. One serves the process's model
// calls, and a model that ignores its context must not hold Close.
func (p *process) await() error {
	done := make(chan struct{})
	go func() { p.owned.Wait(); close(done) }()
	timer := time.NewTimer(p.cfg.Grace)
	defer timer.Stop()
	select {
	case <-done:
		return nil
	case <-timer.C:
		return fmt.Errorf("%w: app %q: the model or memory ignores its context", ErrStuck, p.app)
	}
}

func (p *process) isDead() bool {
	select {
	case <-p.dead:
		return true
	default:
		return false
	}
}

func (p *process) diesWithin(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-p.dead:
		return true
	case <-timer.C:
		return false
	}
}

// endsTogether is how long a broken connection waits for its process to be
// reaped, so that the error can say how it ended.
const endsTogether = 500 * time.Millisecond

// cause explains a broken connection by the death of the process.
func (p *process) cause(err error) error {
	select {
	case <-p.ending:
		return err
	default:
	}
	gone := errors.Is(err, io.EOF) || errors.Is(err, isc.ErrClosed)
	if gone && p.diesWithin(endsTogether) || p.isDead() {
		return &ProcessError{App: p.app, State: p.cmd.ProcessState.String(), Output: p.output.String(), Err: err}
	}
	return err
}
