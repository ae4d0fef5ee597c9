package memory

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

var kindNames = [...]string{Turn: "turn", Summary: "summary", Entity: "entity"}

func (k Kind) valid() bool { return k >= Turn && k <= Entity }

// String is the kind's name: "entity".
func (k Kind) String() string {
	if !k.valid() {
		return fmt.Sprintf("Kind(%d)", uint8(k))
	}
	return kindNames[k]
}

// MarshalText gives the kind's name. An unknown kind is an error.
func (k Kind) MarshalText() ([]byte, error) {
	if !k.valid() {
		return nil, fmt.Errorf("memory: unknown kind %d", uint8(k))
	}
	return []byte(kindNames[k]), nil
}

// UnmarshalText accepts exactly the names that MarshalText gives.
func (k *Kind) UnmarshalText(text []byte) error {
	i := slices.Index(kindNames[:], string(text))
	if i <= 0 {
		return fmt.Errorf("memory: unknown kind %q", text)
	}
	*k = Kind(i)
	return nil
}

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
