package isc

// Effect says what a functionality does to the world. The zero value is the
// strictest: whatever is undeclared cannot be undone.
type Effect uint8

// The effects, strictest first.
const (
	Irreversible Effect = iota
	Write
	Read
)

var effectNames = names[Effect]{"effect", []string{"irreversible", "write", "read"}, 0}

// String is the name that a manifest uses.
func (e Effect) String() string { return effectNames.string(e) }

// MarshalText refuses an effect that is none of the three.
func (e Effect) MarshalText() ([]byte, error) { return effectNames.marshal(e) }

// UnmarshalText takes the three names only.
func (e *Effect) UnmarshalText(b []byte) error { return effectNames.unmarshal(e, b) }
