//go:build unix && !linux

package child

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

func executable() (string, error) { return os.Executable() }

func attributes(bool) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// inheritNothing has nothing to do: what this process opens is marked already.
func inheritNothing() error { return nil }

// await returns when the child was reaped, and kills what it left in its group. A
// group with members keeps its number, so no other group can be meant.
func (c *Child) await() {
	state, err := c.process.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = syscall.Kill(-c.process.Pid, syscall.SIGKILL)
	c.record(state, err)
}

// Namespaces says that there are none.
func Namespaces() error { return fmt.Errorf("child: new namespaces: %w", errors.ErrUnsupported) }
