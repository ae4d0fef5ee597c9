package llm

import (
	"errors"
	"fmt"
	"time"
)

// Kind says what went wrong with a model call. The zero value is unknown.
type Kind uint8

// The kinds of error.
const (
	Unknown     Kind = iota
	Auth             // the key is missing or wrong
	RateLimited      // too many requests; see RetryAfter
	TooLong          // the prompt does not fit the model
	Filtered         // the provider refused the content
	Unavailable      // the server failed or could not be reached
	BadRequest       // the server did not understand, or the model cannot do what was asked
	Truncated        // the reply was cut off: by a token limit, a lost connection, a broken stream
	Malformed        // the reply is not what the protocol allows
	OverBudget       // a budget of ours is used up; nothing was sent
)

// Error is a failed model call.
type Error struct {
	Kind       Kind
	Status     int           // HTTP status, or 0
	RetryAfter time.Duration // for RateLimited and Unavailable, if the server said it; else 0
	Err        error
}

// Error says "llm: kind: cause".
func (e *Error) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("llm: %s", e.Kind)
	}
	return fmt.Sprintf("llm: %s: %s", e.Kind, e.Err)
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

var kindNames = []string{
	"unknown", "auth", "rate limited", "too long", "filtered", "unavailable",
	"bad request", "truncated", "malformed", "over budget",
}

// String names the kind in words, as MarshalText does.
func (k Kind) String() string { return enumString("Kind", kindNames, uint8(k)) }

// MarshalText gives the name; a value that is no kind is an error.
func (k Kind) MarshalText() ([]byte, error) { return enumText("kind", kindNames, uint8(k)) }

// UnmarshalText accepts the names that MarshalText gives and nothing else.
func (k *Kind) UnmarshalText(text []byte) error {
	v, err := enumValue("kind", kindNames, text)
	if err == nil {
		*k = Kind(v)
	}
	return err
}

// KindOf is the kind of the [*Error] in err's tree, or [Unknown].
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Unknown
}
