package terminal

import "io"

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

// drop throws away the byte that a reader left behind is holding.
func (p *pump) drop() {
	select {
	case <-p.bytes:
	default:
	}
}

// wait ends the goroutine, whose reader was told to stop, and waits for it.
func (p *pump) wait() {
	close(p.quit)
	<-p.done
}
