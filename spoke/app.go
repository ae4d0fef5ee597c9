package spoke

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/isolategpt/isolategpt/isc"
)

// App is a manifest and its handlers. What [New] and [Func] make is one; other
// packages can bring their own.
type App interface {
	// Manifest is the same at every call.
	Manifest() isc.Manifest
	// Handle serves one call. Body fits the functionality's request format; what
	// is returned must fit its response format, and is checked on both sides.
	Handle(ctx context.Context, call Call) (json.RawMessage, error)
}

// Call is one use of an app.
type Call struct {
	Functionality isc.FunctionalityName
	Body          json.RawMessage
	// Hub asks the hub for other functionalities and for data, as the paper's
	// inter-spoke communication allows. It may be used until Handle returns, by
	// one goroutine at a time.
	Hub Hub

	// tree is Body decoded, where the operator checked it; nil otherwise, and
	// for null.
	tree any
}

// Hub is the way out of a handler. Its methods give [ErrBudget] beyond the
// task's bound and [ErrEnded] after the handler has returned.
type Hub interface {
	// Use asks for a functionality of some other app: probe, request, answer.
	// [ErrRefused] stands for every reason that it will not be.
	Use(ctx context.Context, name isc.FunctionalityName, body json.RawMessage) (json.RawMessage, error)
	// Need asks for data of the user by name. What was not given is absent.
	Need(ctx context.Context, fields ...isc.DataField) (map[string]json.RawMessage, error)
	// Confirm asks before an act of the app's own that changes something, with
	// exactly the body that will be acted on.
	Confirm(ctx context.Context, name isc.FunctionalityName, body json.RawMessage) error
	// Fetch sends one request to a remote host that the app's manifest names, and
	// gives its one answer: no redirect is followed, and no credential is in it.
	// It is one of the task's calls. [ErrRefused] stands for every reason that it
	// may not be, other errors tell nothing but that it failed. A request is
	// https, or http where the program allows that, on the scheme's own port,
	// with a URL of at most 8 KiB, 64 header fields of 16 KiB, and a body of 512
	// KiB; an answer with more than 32 KiB of header or 1 MiB of body fails.
	// Package spokehttp makes an http.RoundTripper of it.
	Fetch(ctx context.Context, r HTTPRequest) (HTTPResponse, error)
	// Progress shows a line to the user.
	Progress(ctx context.Context, text string) error
}

// What a handler may return, or get from its [Hub]. They choose the status of
// the task's result; the text of an error never leaves the spoke.
var (
	// ErrRefused: the hub refused, for whatever reason. The result is
	// [isc.StatusRefused].
	ErrRefused = errors.New("spoke: refused")
	// ErrMissing: data that the app cannot do without was not given. A handler
	// returns it; the result is [isc.StatusMissing].
	ErrMissing = errors.New("spoke: missing data")
	// ErrBudget: turns, calls or tokens are used up. The result is
	// [isc.StatusBudget].
	ErrBudget = errors.New("spoke: over budget")
	// ErrFetch: a request to a remote host was let out and failed. It is all that a
	// spoke learns of it: a cause may hold addresses and parts of keys.
	ErrFetch = errors.New("spoke: fetch failed")
	// ErrEnded: the Hub of a call was used after its handler returned.
	ErrEnded = errors.New("spoke: the call has ended")
	// ErrProtocol: the hub said something that is not legal in this state. The
	// spoke ends.
	ErrProtocol = errors.New("spoke: unexpected message")
)
