package isc

// Role says what a field of a request decides. The zero value is invalid.
//
// Source: design, section 3.
type Role uint8

// The roles that x-isolate-role can declare.
const (
	Payload     Role = iota + 1 // what is carried
	Destination                 // where it goes: a recipient, a path, an account, a URL
	Record                      // an id that goes back into the app that it came from
	Measure                     // an amount
)

// IsTarget says whether the field decides where something goes or what it is
// done to.
func (r Role) IsTarget() bool { return r == Destination || r == Record }

var roleNames = names[Role]{"role", []string{"payload", "destination", "record", "measure"}, Payload}

// String is the word that x-isolate-role uses.
func (r Role) String() string { return roleNames.string(r) }

// MarshalText refuses the zero role.
func (r Role) MarshalText() ([]byte, error) { return roleNames.marshal(r) }

// UnmarshalText takes the four words only.
func (r *Role) UnmarshalText(b []byte) error { return roleNames.unmarshal(r, b) }
