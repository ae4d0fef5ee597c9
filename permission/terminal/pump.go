package terminal

import (
	"context"
	"io"
	"time"
)

// pump reads an input byte by byte on a goroutine of its own, so that waiting
// for it can be given up.
type pump struct {
	bytes chan byte
	err   error // set before bytes is closed
	done  chan struct{}
	quit  chan struct{}
}

func newPump(r io.Reader) *pump {
	p := &pump{bytes: make(chan byte), done: make(chan struct{}), quit: make(chan struct{})}
	go p.run(r)
	return p
}

func (p *pump) run(r io.Reader) {
	defer close(p.done)
	defer close(p.bytes)
	var b [1]byte
	for {
		n, err := r.Read(b[:])
		if n == 1 {
			select {
			case p.bytes <- b[0]:
			case <-p.quit:
				p.err = io.EOF
				return
			}
		}
		if err != nil {
			p.err = err
			return
		}
	}
}

// discard throws away what comes within d and says how much it was. While the
// terminal is raw ^C and ^D come as bytes; they end the input.
func (p *pump) discard(ctx context.Context, d time.Duration) (n int, err error) {
	over := time.NewTimer(d)
	defer over.Stop()
	for {
		select {
		case b, ok := <-p.bytes:
			switch {
			case !ok:
				return n, p.err
			case b == 3 || b == 4:
				return n, io.EOF
			}
			n++
		case <-over.C:
			return n, nil
		case <-ctx.Done():
			return n, context.Cause(ctx)
		}
	}
}

// wait ends the goroutine, whose reader was told to stop, and waits for it.
func (p *pump) wait() {
	close(p.quit)
	<-p.done
}
