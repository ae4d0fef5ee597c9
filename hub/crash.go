package hub

import (
	"fmt"
	"sync"

	"github.com/isolategpt/isolategpt/isc"
)

// LostError says that a spoke was lost in the middle of a task: it died, fell
// silent, said what is no message, or broke the protocol until it was closed.
// The next task of its app gets a fresh one.
type LostError struct {
	App isc.AppID // [isc.Vanilla]: a vanilla spoke
	Err error
}

// Error names the app and the cause.
func (e *LostError) Error() string {
	return fmt.Sprintf("hub: the spoke of %s was lost: %v", e.App, e.Err)
}

// Unwrap gives the cause.
func (e *LostError) Unwrap() error { return e.Err }

// CrashLoopError says that an app is started no more in this session, since too
// many of its spokes were lost or could not be started. A new session starts it
// again.
type CrashLoopError struct {
	App     isc.AppID // empty: a vanilla spoke
	Crashes int       // and starts that failed
}

// Error names the app and says when it is started again.
func (e *CrashLoopError) Error() string {
	name := string(e.App)
	if name == "" {
		name = "a vanilla spoke"
	}
	return fmt.Sprintf("hub: %s was lost or failed to start %d times, and is started no more in this session", name, e.Crashes)
}

// crashes counts the lost spokes of a session, and those that failed to start. It is safe for concurrent use.
type crashes struct {
	limit int

	mu   sync.Mutex
	lost map[spokeKey]int
}

func (c *crashes) add(key spokeKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lost == nil {
		c.lost = map[spokeKey]int{}
	}
	c.lost[key]++
}

// check is an error once key may be started no more.
func (c *crashes) check(key spokeKey) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := c.lost[key]; n >= c.limit {
		return &CrashLoopError{App: key.app, Crashes: n}
	}
	return nil
}
