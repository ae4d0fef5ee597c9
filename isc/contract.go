package isc

import (
	"context"
	"encoding/json"
	"io"
)

// CONTRACT STUBS: replaced by real files (name.go, effect.go, digest.go, handle.go, format.go, field.go, decode.go, pointer.go, conn.go, pipe.go, codec.go).

type AppID string

func (id AppID) Validate() error { panic("contract") }

type FunctionalityName string

func (n FunctionalityName) Validate() error { panic("contract") }

// LookAlike: two valid names that a person could take for one another (0/o, 1/l/i, rn/m, vv/w, 5/s); equal names are not look-alikes; - _ . are told apart.
func LookAlike(a, b string) bool { panic("contract") }

// Effect: zero value = irreversible (undeclared).
type Effect uint8

const (
	Irreversible Effect = iota
	Write
	Read
)

func (e Effect) String() string { panic("contract") }

// Digest is SHA-256, comparable, text form "sha256:<hex>"; zero = none.
type Digest [32]byte

func (d Digest) String() string { panic("contract") }

func DigestOf(canonical []byte) Digest { panic("contract") }

// Handle is 128 random bits, opaque, unexported field, text form base64url.
type Handle struct{ s string }

func NewHandle() Handle { panic("contract") }

// Validate checks everything in a manifest; all problems joined.
func (m Manifest) Validate() error { panic("contract") }

// Clone is a deep copy.
func (m Manifest) Clone() Manifest { panic("contract") }

// Digest is over the canonical form.
func (m Manifest) Digest() Digest { panic("contract") }

// Find returns the functionality by name.
func (m Manifest) Find(n FunctionalityName) (Functionality, bool) { panic("contract") }

// Pin is what a grant for functionality n is pinned to: digest over id, the functionality whole, and hosts. Not version, not other functionalities.
func (m Manifest) Pin(n FunctionalityName) Digest { panic("contract") }

// DecodeManifest decodes strictly.
func DecodeManifest(raw []byte) (Manifest, error) { panic("contract") }

type Format struct{}

func ParseFormat(schema []byte) (*Format, error)       { panic("contract") }
func MustFormat(schema string) *Format                 { panic("contract") }
func (f *Format) Check(body []byte) ([]byte, error)    { panic("contract") }
func (f *Format) Closed() (closed bool, open []string) { panic("contract") }
func (f *Format) Schema() json.RawMessage              { panic("contract") }
func (f *Format) Bare() json.RawMessage                { panic("contract") }
func (f *Format) Digest() Digest                       { panic("contract") }
func (f *Format) Fields() []Field                      { panic("contract") }
func (f *Format) At(pointer string) (Field, bool)      { panic("contract") }
func (f *Format) Notes() []Note                        { panic("contract") }
func (f *Format) MarshalJSON() ([]byte, error)         { panic("contract") }
func (f *Format) UnmarshalJSON(b []byte) error         { panic("contract") }

// Field is what a format says about one place in its values.
type Field struct {
	Pointer  string // "*" for any element of an array or any further member of an object
	Types    Types
	Required bool
	Closed   bool
	Role     Role
	Guessed  bool   // the role was not declared
	Format   string // the asserted format, if any
	Enum     []json.RawMessage
}

type Types uint8

const (
	TypeNull Types = 1 << iota
	TypeBoolean
	TypeInteger
	TypeNumber
	TypeString
	TypeArray
	TypeObject
)

type Role uint8

const (
	Payload Role = iota + 1 // zero invalid
	Destination
	Record
	Measure
)

func (r Role) IsTarget() bool { return r == Destination || r == Record }

// Note: something about a format that its user should know: a pattern that cannot be checked, an unknown format, a guessed role.
type Note struct{ Pointer, Keyword, Text string }

// Canonical decodes strictly and returns canonical bytes.
func Canonical(raw []byte) ([]byte, error) { panic("contract") }

// Unmarshal decodes strictly into a struct: canonical rules plus unknown and case-variant keys refused.
func Unmarshal(raw []byte, v any) error { panic("contract") }

// Get resolves a plain JSON pointer in canonical bytes.
func Get(doc []byte, pointer string) (json.RawMessage, bool) { panic("contract") }

// Select resolves a pointer with "*" in canonical bytes, flat, in order.
func Select(doc []byte, pointer string) ([]json.RawMessage, error) { panic("contract") }

// HasHidden says whether s holds invisible or direction-changing characters.
func HasHidden(s string) bool { panic("contract") }

type Conn[In, Out any] interface {
	Send(ctx context.Context, m Out) error
	Recv(ctx context.Context) (In, error)
	io.Closer
}

type HubConn = Conn[ToHub, ToSpoke]
type SpokeConn = Conn[ToSpoke, ToHub]

// Pipe is an in-memory pair: messages are passed as values with their bytes copied, limits enforced.
func Pipe() (HubConn, SpokeConn) { panic("contract") }

// NewHubConn and NewSpokeConn frame a stream: 4-byte big-endian length, JSON.
func NewHubConn(rwc io.ReadWriteCloser) HubConn     { panic("contract") }
func NewSpokeConn(rwc io.ReadWriteCloser) SpokeConn { panic("contract") }
