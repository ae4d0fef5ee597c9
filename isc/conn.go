package isc

import (
	"context"
	"errors"
	"io"
)

// MaxFrame is the most that one message may hold, in bytes of JSON.
const MaxFrame = 1 << 20

var (
	// ErrTooLarge says that a message is over [MaxFrame].
	ErrTooLarge = errors.New("isc: message too large")
	// ErrClosed says that the connection is closed, by either side.
	ErrClosed = errors.New("isc: connection closed")
)

// Conn carries messages both ways. Send may run beside Recv, and Close beside
// both; neither runs beside itself.
//
// Send checks the message and gives [ErrMalformed] or [ErrTooLarge] for one that
// the protocol does not have; nothing is sent then and the connection stays
// usable. It blocks until the message is handed on, ctx is done, or the
// connection is closed.
//
// Recv returns the next message. It blocks until a whole one has arrived, ctx is
// done, or the connection is closed. A message that cannot be decoded gives
// [ErrMalformed] and the connection stays usable. One over [MaxFrame] gives
// [ErrTooLarge], and ctx ending first gives its cause; both close the connection,
// since what is half read cannot be resumed. A peer that is gone gives io.EOF
// between messages and [ErrClosed] within one; a connection closed by this side
// gives [ErrClosed].
//
// Close is idempotent and makes the other calls return.
//
// Source: paper §IV-C2 (both operators validate what they exchange).
type Conn[In, Out any] interface {
	Send(ctx context.Context, m Out) error
	Recv(ctx context.Context) (In, error)
	io.Closer
}

// HubConn is the hub's end of a connection.
type HubConn = Conn[ToHub, ToSpoke]

// SpokeConn is the spoke's end of a connection.
type SpokeConn = Conn[ToSpoke, ToHub]
