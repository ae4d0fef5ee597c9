//go:build unix

package spoke

import (
	"errors"
	"fmt"
	"time"
)

// watch ends what this side does for a process that died by itself, and kills one
// that was stopped: it would hold what it has and say nothing. The connection to
// the hub stays for a moment, since a result may still be in it; then it is
// closed, so that no descendant that holds the other end can keep Recv waiting.
func (p *process) watch() {
	select {
	case <-p.child.Stopped():
		p.child.Kill()
	case <-p.child.Done():
	case <-p.ending:
		return
	}
	select {
	case <-p.child.Done():
	case <-p.ending:
		return
	}
	p.unwatch()
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
		p.cancel(errClosed)
		err := p.child.End(func() { _, _ = p.hub.Close(), p.host.Close() })
		p.unwatch() // it was watched for as long as it could hold anything
		if err != nil {
			p.err = fmt.Errorf("%w: app %q: %w", ErrStuck, p.app, err)
			return
		}
		p.err = p.await()
	})
	return p.err
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

// fail ends a process for a reason, and gives it.
func (p *process) fail(reason error) error {
	if err := p.end(); err != nil {
		return errors.Join(reason, err)
	}
	return reason
}
