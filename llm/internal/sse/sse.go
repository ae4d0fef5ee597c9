// Package sse reads server-sent events, as servers of models send them.
//
// Lines may be of any length: what is bounded is an event, by [MaxEvent], and
// by whoever bounds the underlying reader. It never panics on what it reads.
//
// # Source
//
// The event stream format of the HTML Living Standard, §9.2. One deviation: an
// event whose last line is complete counts without the empty line after it,
// since servers close the connection there.
package sse

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// MaxEvent bounds an event with all its lines, in bytes.
const MaxEvent = 4 << 20

// ErrTooLarge is returned for an event over [MaxEvent].
var ErrTooLarge = errors.New("sse: an event is over 4 MiB")

// Event is one event. Data is valid until the next call of Next.
type Event struct {
	Name string // of the event field, or ""
	Data []byte // the data fields, joined by newlines
}

// Reader reads events.
type Reader struct {
	r     *bufio.Reader
	line  []byte
	data  []byte
	first bool
}

// NewReader makes a reader of r.
func NewReader(r io.Reader) *Reader { return &Reader{r: bufio.NewReader(r), first: true} }

// Next gives the next event that has data. At the end it gives io.EOF, and
// io.ErrUnexpectedEOF if the stream ends within a line.
func (r *Reader) Next() (Event, error) {
	var e Event
	r.data = r.data[:0]
	has, size := false, 0
	for {
		line, err := r.readLine()
		if err == io.EOF && has {
			return r.event(e), nil
		}
		if err != nil {
			return Event{}, err
		}
		if size += len(line); size > MaxEvent {
			return Event{}, ErrTooLarge
		}
		if len(line) == 0 {
			if has {
				return r.event(e), nil
			}
			e, size = Event{}, 0
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "data":
			r.data = append(append(r.data, value...), '\n')
			has = true
		case "event":
			e.Name = string(value)
		}
	}
}

func (r *Reader) event(e Event) Event {
	e.Data = r.data[:len(r.data)-1]
	return e
}

// readLine reads a line of any length up to MaxEvent, without its end.
func (r *Reader) readLine() ([]byte, error) {
	r.line = r.line[:0]
	for {
		part, err := r.r.ReadSlice('\n')
		r.line = append(r.line, part...)
		switch {
		case len(r.line) > MaxEvent:
			return nil, ErrTooLarge
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF && len(r.line) > 0:
			return nil, io.ErrUnexpectedEOF
		case err != nil:
			return nil, err
		}
		line := bytes.TrimSuffix(bytes.TrimSuffix(r.line, []byte("\n")), []byte("\r"))
		if r.first {
			line, r.first = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")), false
		}
		return line, nil
	}
}
