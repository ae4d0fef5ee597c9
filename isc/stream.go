package isc

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
)

// NewHubConn is the hub's end of a stream. Each message is a frame: its length,
// four bytes, big-endian, then so many bytes of JSON. The connection owns rwc;
// rwc's Close must end a Read and a Write that block, as those of pipes and
// sockets do.
func NewHubConn(rwc io.ReadWriteCloser) HubConn {
	return &stream[ToHub, ToSpoke]{rwc: rwc, in: toHubCodec, out: toSpokeCodec}
}

// NewSpokeConn is the spoke's end of a stream; see [NewHubConn].
func NewSpokeConn(rwc io.ReadWriteCloser) SpokeConn {
	return &stream[ToSpoke, ToHub]{rwc: rwc, in: toSpokeCodec, out: toHubCodec}
}

const headerSize = 4

// stream is a Conn over framed bytes.
type stream[In, Out any] struct {
	rwc io.ReadWriteCloser
	in  codec[In]
	out codec[Out]

	mu     sync.Mutex
	closed bool
}

// Send implements [Conn].
func (s *stream[In, Out]) Send(ctx context.Context, m Out) error {
	body, err := s.out.encode(m)
	if err != nil {
		return err
	}
	frame := binary.BigEndian.AppendUint32(make([]byte, 0, headerSize+len(body)), uint32(len(body)))
	frame = append(frame, body...)
	return s.guarded(ctx, func() error {
		if _, err := s.rwc.Write(frame); err != nil {
			return fmt.Errorf("%w: %w", ErrClosed, err)
		}
		return nil
	})
}

// Recv implements [Conn].
func (s *stream[In, Out]) Recv(ctx context.Context) (In, error) {
	var none In
	var frame []byte
	err := s.guarded(ctx, func() (err error) {
		frame, err = s.readFrame()
		return err
	})
	if err != nil {
		return none, err
	}
	return s.in.decode(frame)
}

// guarded runs one read or write. Whatever ends it early closes the connection.
func (s *stream[In, Out]) guarded(ctx context.Context, io func() error) error {
	if s.isClosed() {
		return ErrClosed
	}
	if ctx.Err() != nil {
		_ = s.Close()
		return context.Cause(ctx)
	}
	stop := context.AfterFunc(ctx, func() { _ = s.Close() })
	defer stop()
	err := io()
	if err == nil {
		return nil
	}
	wasClosed := s.isClosed()
	_ = s.Close()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case wasClosed:
		return ErrClosed
	}
	return err
}

// readFrame reads as much as has come, so that a length that lies costs nothing.
func (s *stream[In, Out]) readFrame() ([]byte, error) {
	var header [headerSize]byte
	if _, err := io.ReadFull(s.rwc, header[:]); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, io.EOF
		}
		return nil, fmt.Errorf("%w: %w", ErrClosed, err)
	}
	size := binary.BigEndian.Uint32(header[:])
	if size > MaxFrame {
		return nil, ErrTooLarge
	}
	var body bytes.Buffer
	if _, err := io.CopyN(&body, s.rwc, int64(size)); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("%w: %w", ErrClosed, err)
	}
	return body.Bytes(), nil
}

func (s *stream[In, Out]) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// Close implements [Conn].
func (s *stream[In, Out]) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	s.mu.Unlock()
	return s.rwc.Close()
}
