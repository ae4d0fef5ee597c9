// Package frame is what a guest and its host say to each other: one JSON text
// each way, over the one function that the host offers.
//
// # Source
//
// docs/adr/0010-guarantees.md.
package frame

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
)

// The names that host and guest link by.
const (
	// Module and Exchange name the host's one function:
	//
	//	exchange(in, inLen, out, outCap i32) i32
	//
	// With inLen > 0 it takes a frame and gives the length of the reply, which it
	// writes to out if it is at most outCap. A longer one waits for the next call,
	// which has an inLen of 0.
	Module   = "isolategpt"
	Exchange = "exchange"
	// Manifest and Handle name what the guest offers, without parameters and
	// results. Manifest sends the manifest as its one frame. Handle collects a
	// [Task] first, and sends [Up.Done] last.
	Manifest = "isolategpt_manifest"
	Handle   = "isolategpt_handle"
)

// The most that a frame may hold, in bytes.
const (
	MaxUp   = 1 << 20 // as a message of package isc
	MaxDown = 4 << 20
)

// Task is what a guest is to do.
type Task struct {
	Functionality isc.FunctionalityName `json:"functionality"`
	Body          json.RawMessage       `json:"body"`
	// Millis is how long the caller waits at most; 0 if it does not say.
	Millis int64 `json:"millis,omitempty"`
}

// Up is one frame of a guest. Exactly one member is set.
type Up struct {
	Use      *Use     `json:"use,omitempty"`
	Need     *Need    `json:"need,omitempty"`
	Confirm  *Use     `json:"confirm,omitempty"`
	Progress *string  `json:"progress,omitempty"`
	Fetch    *Request `json:"fetch,omitempty"`
	Done     *Done    `json:"done,omitempty"`
}

// Use names a functionality and what it is asked with.
type Use struct {
	Name isc.FunctionalityName `json:"name"`
	Body json.RawMessage       `json:"body"`
}

// Need names data of the user.
type Need struct {
	Fields []isc.DataField `json:"fields"`
}

// Request is a [spoke.HTTPRequest].
type Request spoke.HTTPRequest

// Done ends a task: with a body, or with an error.
type Done struct {
	Body  json.RawMessage `json:"body,omitempty"`
	Error Error           `json:"error,omitempty"`
}

// Reply is the one reply to a frame that is not the last.
type Reply struct {
	Body     json.RawMessage            `json:"body,omitempty"`
	Values   map[string]json.RawMessage `json:"values,omitempty"`
	Response *spoke.HTTPResponse        `json:"response,omitempty"`
	Error    Error                      `json:"error,omitempty"`
}

// ErrFrame says that a guest's frame is none.
var ErrFrame = errors.New("wasm: malformed frame")

// Decode reads a guest's frame, as strictly as [isc.Unmarshal].
func Decode(raw []byte) (Up, error) {
	var up Up
	if err := isc.Unmarshal(raw, &up); err != nil {
		return Up{}, fmt.Errorf("%w: %w", ErrFrame, err)
	}
	members := 0
	for _, set := range []bool{up.Use != nil, up.Need != nil, up.Confirm != nil, up.Progress != nil, up.Fetch != nil, up.Done != nil} {
		if set {
			members++
		}
	}
	if members != 1 {
		return Up{}, fmt.Errorf("%w: %d members", ErrFrame, members)
	}
	if !up.Use.whole() || !up.Confirm.whole() || up.Need != nil && len(up.Need.Fields) == 0 {
		return Up{}, fmt.Errorf("%w: it does not say of what", ErrFrame)
	}
	return up, nil
}

// whole says whether u, if it is there, has all of its members.
func (u *Use) whole() bool { return u == nil || u.Name != "" && len(u.Body) > 0 }
