package child

import (
	"io"
	"os"
	"time"
)

// afterlife is how long what a dead child wrote is waited for. All of it is in
// the pipe by then; what else holds the pipe open is not waited for.
const afterlife = 100 * time.Millisecond

// outputs are the child's descriptors 1 and 2, which the caller closes after the
// start, whether it succeeds or not.
func (c *Child) outputs(cfg Config) ([2]*os.File, error) {
	var out [2]*os.File
	for i, w := range []io.Writer{cfg.Stdout, cfg.Stderr} {
		if i == 1 && w == nil && cfg.Stdout == nil {
			out[1] = out[0] // one pipe keeps the order of what is written
			break
		}
		theirs, err := c.pipe(w)
		if err != nil {
			return out, err
		}
		out[i] = theirs
	}
	return out, nil
}

// pipe gives the child's end of a pipe into w, or, if w is nil, into the tail.
func (c *Child) pipe(w io.Writer) (*os.File, error) {
	ours, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	c.pipes = append(c.pipes, ours)
	c.readers.Go(func() {
		defer func() { _ = ours.Close() }()
		if w == nil {
			c.keep(ours)
			return
		}
		_, _ = io.Copy(w, ours) // a writer that fails loses its output, and the child sees a broken pipe
	})
	return theirs, nil
}

// keep reads into the tail, at a pace while the child lives.
func (c *Child) keep(r io.Reader) {
	var p pace
	buf := make([]byte, 4<<10)
	for {
		n, err := r.Read(buf)
		_, _ = c.output.Write(buf[:n])
		if err != nil {
			return
		}
		c.rest(p.after(n, time.Now()))
	}
}

// rest waits, at most until the child has ended.
func (c *Child) rest(d time.Duration) {
	if d < time.Millisecond {
		return // a timer is not worth it
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.dying:
	}
}

// drain reads what is left of the output, for a moment.
func (c *Child) drain() {
	close(c.dying)
	for _, ours := range c.pipes {
		// One that was closed at its end needs no deadline.
		_ = ours.SetReadDeadline(time.Now().Add(afterlife))
	}
	c.readers.Wait()
}
