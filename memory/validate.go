package memory

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Errors that every [Memory] gives, by errors.Is.
var (
	// ErrScope is for the zero scope and for one of a user without a name.
	ErrScope = errors.New("memory: invalid scope")
	// ErrRecord is for a record that cannot be kept: no kind, a value that is
	// not JSON, an entity without a key, over the limits.
	ErrRecord = errors.New("memory: invalid record")
)

// Validate says what is wrong with s, or nil: it wraps [ErrScope].
func (s Scope) Validate() error {
	if _, _, ok := s.Parts(); !ok || s.user == "" {
		return fmt.Errorf("%w: it names no user, or neither the hub nor an app", ErrScope)
	}
	return nil
}

// Validate says what is wrong with r, or nil: it wraps [ErrRecord].
func (r Record) Validate() error {
	switch {
	case !r.Kind.valid():
		return fmt.Errorf("%w: unknown kind %d", ErrRecord, uint8(r.Kind))
	case r.Kind == Entity && r.Key == "":
		return fmt.Errorf("%w: an entity needs a key", ErrRecord)
	case !json.Valid(r.Value):
		return fmt.Errorf("%w: the value is not JSON", ErrRecord)
	default:
		return nil
	}
}

// Selects says whether q selects r, its count aside.
func (q Query) Selects(r Record) bool {
	return (q.Kind == 0 || q.Kind == r.Kind) && (q.Key == "" || q.Key == r.Key)
}
