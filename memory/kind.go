package memory

import (
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
