package wasm

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tetratelabs/wazero/sys"

	"github.com/isolategpt/isolategpt/isc"
)

// EndedError says that an instance of a module ended without being asked to: it
// trapped, exited, used up its time, or said what it must not.
type EndedError struct {
	App isc.AppID
	// State says how it ended: "exit status 2", "wasm error: unreachable".
	State string
	// Output is the end of what it wrote to standard output and error, at most
	// 16 KiB. It is the app's text, not to be trusted, and no part of Error.
	Output string
	// Err is [ErrTimeout], or nil.
	Err error
}

// Error names the app and the state.
func (e *EndedError) Error() string {
	return fmt.Sprintf("wasm: the instance of app %q ended: %s", e.App, e.State)
}

// Unwrap gives Err.
func (e *EndedError) Unwrap() error { return e.Err }

// ErrTimeout says that a module worked longer than [Config.Timeout] allows.
var ErrTimeout = errors.New("wasm: out of time")

// ended makes an error of what the runtime says. Its first line is the
// runtime's or ours; the names of functions that follow are the module's.
func ended(app isc.AppID, cause error, out *output) *EndedError {
	e := &EndedError{App: app, Output: string(out.buf)}
	var exit *sys.ExitError
	switch {
	case errors.Is(cause, ErrTimeout):
		e.State, e.Err = ErrTimeout.Error(), ErrTimeout
	case errors.As(cause, &exit):
		e.State = fmt.Sprintf("exit status %d", exit.ExitCode())
	default:
		e.State, _, _ = strings.Cut(cause.Error(), "\n")
	}
	return e
}
