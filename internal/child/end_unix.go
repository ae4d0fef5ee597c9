//go:build unix

package child

import (
	"fmt"
	"syscall"
)

// End is the ladder: it calls closeConns, which may be nil, waits, sends SIGTERM
// to the child's group, waits, sends SIGKILL, and waits; each time for the grace
// at most. A child that was stopped is killed at once. It gives [ErrStuck] if the
// child is not reaped then. It may be called again, and gives the same.
func (c *Child) End(closeConns func()) error {
	c.once.Do(func() {
		if closeConns != nil {
			closeConns()
		}
		c.err = c.climb()
	})
	return c.err
}

func (c *Child) climb() error {
	for _, signal := range []syscall.Signal{0, syscall.SIGTERM, syscall.SIGKILL} {
		if isClosed(c.stopped) {
			signal = syscall.SIGKILL
		}
		if signal != 0 {
			c.signal(signal)
		}
		if c.doneWithin(c.grace) {
			return nil
		}
	}
	return fmt.Errorf("%w: process %d of %s", ErrStuck, c.Pid(), c.name)
}

// Kill sends SIGKILL to the child's group and does not wait.
func (c *Child) Kill() { c.signal(syscall.SIGKILL) }

func (c *Child) signal(s syscall.Signal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.reaped {
		_ = syscall.Kill(-c.process.Pid, s) // one that ended meanwhile needs none
	}
}
