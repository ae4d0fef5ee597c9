package llm

// Role says who speaks. The zero value is invalid.
type Role uint8

// The roles of messages.
const (
	_ Role = iota
	System
	User
	Assistant
	ToolResult
)

var roleNames = []string{"", "system", "user", "assistant", "tool result"}

// String names the role, as MarshalText does.
func (r Role) String() string { return enumString("Role", roleNames, uint8(r)) }

// MarshalText gives the name; a value that is no role is an error.
func (r Role) MarshalText() ([]byte, error) { return enumText("role", roleNames, uint8(r)) }

// UnmarshalText accepts the names that MarshalText gives and nothing else.
func (r *Role) UnmarshalText(text []byte) error {
	v, err := enumValue("role", roleNames, text)
	if err == nil {
		*r = Role(v)
	}
	return err
}
