package isc

import (
	"context"
	"io"
	"net"
	"sync"
)

// Pipe is a connection within one program. Messages pass as values, copied and
// checked as those of a stream are, and no goroutine carries them. A message sent
// before Close is still received.
//
// A pipe isolates nothing by itself: both ends run in one address space.
func Pipe() (HubConn, SpokeConn) {
	up, down := make(chan ToHub, pipeBuffer), make(chan ToSpoke, pipeBuffer)
	hub, spoke := &pipeState{done: make(chan struct{})}, &pipeState{done: make(chan struct{})}
	return &pipeEnd[ToHub, ToSpoke]{up, down, toSpokeCodec, hub, spoke},
		&pipeEnd[ToSpoke, ToHub]{down, up, toHubCodec, spoke, hub}
}

// pipeBuffer lets a side speak while the other does, as the buffer of a pipe of
// the system does.
const pipeBuffer = 8

type pipeState struct {
	once sync.Once
	done chan struct{}
}

func (s *pipeState) close() { s.once.Do(func() { close(s.done) }) }

func (s *pipeState) isClosed() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

type pipeEnd[In, Out any] struct {
	in    <-chan In
	out   chan<- Out
	codec codec[Out]
	own   *pipeState
	peer  *pipeState
}

// Send implements [Conn].
func (p *pipeEnd[In, Out]) Send(ctx context.Context, m Out) error {
	m, err := p.codec.checked(m)
	if err != nil {
		return err
	}
	if p.own.isClosed() {
		return ErrClosed
	}
	if ctx.Err() != nil {
		return p.abandon(ctx)
	}
	if p.peer.isClosed() {
		return ErrClosed
	}
	select {
	case p.out <- m:
		return nil
	case <-p.own.done:
		return ErrClosed
	case <-p.peer.done:
		return ErrClosed
	case <-ctx.Done():
		return p.abandon(ctx)
	}
}

// Recv implements [Conn].
func (p *pipeEnd[In, Out]) Recv(ctx context.Context) (In, error) {
	var none In
	if p.own.isClosed() {
		return none, ErrClosed
	}
	if ctx.Err() != nil {
		return none, p.abandon(ctx)
	}
	select {
	case m := <-p.in:
		return m, nil
	case <-p.own.done:
		return none, ErrClosed
	case <-ctx.Done():
		return none, p.abandon(ctx)
	case <-p.peer.done:
	}
	select { // what was sent before the peer closed
	case m := <-p.in:
		return m, nil
	default:
		return none, io.EOF
	}
}

func (p *pipeEnd[In, Out]) abandon(ctx context.Context) error {
	p.own.close()
	return context.Cause(ctx)
}

// Close implements [Conn].
func (p *pipeEnd[In, Out]) Close() error {
	p.own.close()
	return nil
}

// checked is a copy of m that may pass. Only a message near the limit is written
// out to see its size: no character takes more than six bytes.
func (c codec[M]) checked(m M) (M, error) {
	var none M
	m, err := c.vet(m)
	if err != nil {
		return none, err
	}
	if sizeOf(m) < MaxFrame/8 {
		return m, nil
	}
	if _, err := c.encode(m); err != nil {
		return none, err
	}
	return m, nil
}

// sizeOf is the sum of the bytes of a message's strings and bodies, and a little
// for each item.
func sizeOf(m any) int {
	const item = 128
	n := item
	switch m := m.(type) {
	case Request:
		for _, c := range m.Calls {
			n += item + len(c.Body)
		}
	case NeedData:
		for _, f := range m.Fields {
			n += item + len(f.Name) + len(f.Purpose)
		}
	case Confirm:
		n += len(m.Body)
	case Progress:
		n += len(m.Text)
	case Result:
		n += len(m.Body)
	case Task:
		n += len(m.Body) + len(m.Text) + len(m.Answer)
		for _, k := range m.May {
			n += item + len(k.Description) + len(k.Request) + len(k.Response)
		}
		n += sizeOf(Data{m.Data})
	case Offer:
		n += len(m.Request) + len(m.Response)
	case Response:
		for _, b := range m.Bodies {
			n += item + len(b)
		}
	case Data:
		for _, d := range m.Values {
			n += item + len(d.Name) + len(d.Body)
		}
	}
	return n
}

// RawPipe is a hub's end whose other end is bare bytes, for tests in which the
// peer keeps to no protocol.
func RawPipe() (HubConn, io.ReadWriteCloser) {
	a, b := net.Pipe()
	return NewHubConn(a), b
}
