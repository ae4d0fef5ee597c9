package child

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"
)

// Config says what is started.
type Config struct {
	Name string   // for errors
	Args []string // what follows the program's name
	Env  []string // all of the environment
	// Files become the descriptors from 3 on. The caller closes its copies.
	Files []*os.File
	Stdin *os.File // nil: /dev/null
	// Stdout and Stderr take what the child writes, as fast as they can. One that
	// is nil is kept as [Child.Output] and read no faster than 1 MiB a second, so
	// that a flood stops its writer.
	Stdout, Stderr io.Writer
	// Namespaces starts it in new user, mount, pid, network, ipc and uts
	// namespaces, as root of the first, which is this user outside.
	Namespaces bool
	// Grace is waited at each rung of [Child.End]. Default 2 seconds.
	Grace time.Duration
}

// ErrStuck says that a child is still there after SIGKILL.
var ErrStuck = errors.New("child: it survived SIGKILL")

// Child is a process that was started. Its methods may be used by several
// goroutines at once.
type Child struct {
	name    string
	grace   time.Duration
	process *os.Process
	output  tail

	readers sync.WaitGroup
	pipes   []*os.File    // this side's ends of its output
	dying   chan struct{} // closed when it has ended; what it wrote is still read
	done    chan struct{}
	stopped chan struct{}
	once    sync.Once
	err     error

	mu     sync.Mutex
	reaped bool
	state  string
}

// Pid is its process id, as this process sees it.
func (c *Child) Pid() int { return c.process.Pid }

// Done is closed when the child was reaped and its output was read.
func (c *Child) Done() <-chan struct{} { return c.done }

// Stopped is closed when the child was stopped by a signal, as SIGSTOP does. It
// says nothing and holds its connections then. Only Linux tells.
func (c *Child) Stopped() <-chan struct{} { return c.stopped }

// State says how the child ended: "exit status 2", "signal: killed", "stopped,
// then signal: killed". Before Done it is empty.
func (c *Child) State() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

// Output is the end of what the child wrote, at most 16 KiB. It is the child's
// text, not to be trusted.
func (c *Child) Output() string { return c.output.String() }

func (c *Child) doneWithin(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-c.done:
		return true
	case <-timer.C:
		return false
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
