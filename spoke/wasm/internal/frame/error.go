package frame

import (
	"errors"
	"fmt"

	"github.com/isolategpt/isolategpt/spoke"
)

// Error is all of an error that crosses: its text stays where it is.
type Error string

// Failed is every error without a word of its own.
const Failed Error = "failed"

// words are in the order in which an operator looks at an error that is several.
var words = [...]struct {
	word Error
	err  error
}{
	{"budget", spoke.ErrBudget},
	{"missing", spoke.ErrMissing},
	{"refused", spoke.ErrRefused},
	{"ended", spoke.ErrEnded},
	{"fetch", spoke.ErrFetch},
	{Failed, errFailed},
}

// ErrorOf is the word for err; "" for nil.
func ErrorOf(err error) Error {
	if err == nil {
		return ""
	}
	for _, w := range words {
		if errors.Is(err, w.err) {
			return w.word
		}
	}
	return Failed
}

var errFailed = errors.New("wasm: the other side failed")

// Err is what the word stands for; nil for "".
func (e Error) Err() error {
	if e == "" {
		return nil
	}
	for _, w := range words {
		if w.word == e {
			return w.err
		}
	}
	return errFailed
}

// UnmarshalText takes no word but those that ErrorOf gives.
func (e *Error) UnmarshalText(text []byte) error {
	for _, w := range words {
		if string(w.word) == string(text) {
			*e = w.word
			return nil
		}
	}
	return fmt.Errorf("%w: unknown error", ErrFrame)
}
