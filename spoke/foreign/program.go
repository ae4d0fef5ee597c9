package foreign

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/isolategpt/isolategpt/internal/child"
	"github.com/isolategpt/isolategpt/internal/meter"
	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
)

// ErrMemory says that a program was killed because it held more memory than it
// may. Most programs hear of the limit before, by a refused allocation.
var ErrMemory = spoke.ErrMemory

// ErrThreads says that a program was killed because it had more than 512 threads.
var ErrThreads = spoke.ErrThreads

// Program is a program that was started. Its methods may be used by several
// goroutines at once.
type Program struct {
	cfg       Config
	child     *child.Child
	isolation isc.Isolation
	stdin     *os.File
	stdout    *os.File
	proxy     *proxy // nil: none

	watcher meter.Watcher
	seen    *meter.Watch // nil: none

	owned  sync.WaitGroup
	ending chan struct{} // closed when it is asked to end
	done   chan struct{} // closed when it has ended
	once   sync.Once
	err    error
}

// Stdin is the program's standard input. Closing it is how most programs are told
// to end. A write fails when the program is gone.
func (p *Program) Stdin() io.WriteCloser { return p.stdin }

// Stdout is the program's standard output. The program waits while nobody reads.
// When it is gone, what it wrote can still be read, until Close. It is the
// program's text, not to be trusted.
func (p *Program) Stdout() io.Reader { return p.stdout }

// Output is the end of what the program wrote to its standard error, at most 16
// KiB. It is read no faster than 1 MiB a second, so that a flood stops its
// writer. It is the program's text, not to be trusted.
func (p *Program) Output() string { return p.child.Output() }

// Isolation is what the program runs in, as attempts from inside of its process
// showed before it was executed.
func (p *Program) Isolation() isc.Isolation { return p.isolation }

// Done is closed when the program has ended, and with it all that it started.
func (p *Program) Done() <-chan struct{} { return p.done }

// Err says how the program ended, if it did so without being asked to: a
// [*spoke.ProcessError], of [ErrMemory] or [ErrThreads] if it was killed for that. While it runs,
// and if [Program.Close] ended it, it is nil.
func (p *Program) Err() error {
	select {
	case <-p.done:
		return p.err
	default:
		return nil
	}
}

// Close ends the program: it closes the standard input, waits, sends SIGTERM to
// its process group, waits, sends SIGKILL, and waits, each time for the grace at
// most. Nothing of it is left then. In a pid namespace it is the first process,
// which SIGTERM ends only if it handles that. A process that survives all of
// that, or an Authorize that ignores its context, gives [spoke.ErrStuck]. It may
// be called again, and gives nil then.
func (p *Program) Close() error {
	var err error
	p.once.Do(func() {
		close(p.ending)
		err = p.child.End(func() { _ = p.stdin.Close() })
		if err != nil {
			err = fmt.Errorf("%w: %w", spoke.ErrStuck, err)
		}
		err = errors.Join(err, p.proxy.close(p.cfg.Grace))
		_ = p.stdout.Close()
		if err == nil {
			p.owned.Wait()
		}
	})
	return err
}

// watch sees the program to its end.
func (p *Program) watch() {
	<-p.child.Done()
	cause := cmp.Or(p.unwatch(), io.EOF)
	select {
	case <-p.ending:
	default:
		p.err = &spoke.ProcessError{App: p.cfg.App, State: p.child.State(), Output: p.child.Output(), Err: cause}
	}
	p.proxy.stop()
	p.cfg.Logger.Info("program ended", "app", string(p.cfg.App), "state", p.child.State())
	close(p.done)
}

// unwatch ends the watch, if there is one, and gives why it ended the program.
func (p *Program) unwatch() error {
	if p.seen == nil {
		return nil
	}
	p.seen.End()
	return p.seen.Err()
}
