package isc

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
)

// Types is a set of JSON types.
type Types uint8

// The JSON types. An integer is a number too: a field of type number has both.
const (
	TypeNull Types = 1 << iota
	TypeBoolean
	TypeInteger
	TypeNumber
	TypeString
	TypeArray
	TypeObject
)

const anyType = TypeNull | TypeBoolean | TypeInteger | TypeNumber | TypeString | TypeArray | TypeObject

// Has says whether t has a type in common with u.
func (t Types) Has(u Types) bool { return t&u != 0 }

// String is "string|null", in the order of the constants.
func (t Types) String() string {
	var list []string
	for i, name := range []string{"null", "boolean", "integer", "number", "string", "array", "object"} {
		if t&(1<<i) != 0 {
			list = append(list, name)
		}
	}
	return strings.Join(list, "|")
}

// Field is what a format says about one place in its values.
type Field struct {
	Pointer  string // "*" for any element of an array or any member of an object
	Types    Types
	Required bool // by its own object; that one may be optional
	Closed   bool // no value there can carry an instruction
	Role     Role
	Guessed  bool              // the role was not declared
	Format   string            // the asserted format, if any
	Enum     []json.RawMessage // canonical; nil if the values are not listed
}

// Bounds of the search through alternatives and recursion.
const (
	maxAlternatives = 64
	maxFields       = 1024
	maxFieldDepth   = 24
)

// Fields are all places that the format speaks of, parents first, members in the
// order of their names. A schema within itself is shown once. At most 1024.
func (f *Format) Fields() []Field {
	if f.isNone() {
		return nil
	}
	return cloneFields(f.c.fields())
}

// At is what the format says about one place. "*" stands for what [Select] takes
// it for: any element of an array, any member of an object. A member that the
// schema neither names nor allows by a pattern or an explicit
// additionalProperties is not there, even where the schema does not forbid it; an
// object of which nothing is named may have any. A number does not address an
// element.
//
// What is said holds for every value that [Format.Check] accepts: where one of
// several alternatives leaves a place free, its types are all and it is open.
func (f *Format) At(pointer string) (Field, bool) {
	if f.isNone() {
		return Field{}, false
	}
	found := f.c.found.at(pointer, f.c.lookUp)
	found.field.Enum = cloneEnum(found.field.Enum)
	return found.field, found.ok
}

func (c *compiled) lookUp(pointer string) foundField {
	tokens, err := splitPointer(pointer)
	if err != nil || len(tokens) > 2*maxFieldDepth {
		return foundField{}
	}
	p := rootPlace(c.root)
	for _, t := range tokens {
		var ok bool
		if p, ok = p.child(t); !ok {
			return foundField{}
		}
	}
	work := maxClosedWork
	return foundField{p.field(&work), true}
}

type foundField struct {
	field Field
	ok    bool
}

// foundFields remembers what was looked up in a schema, which does not change.
type foundFields struct {
	mu    sync.RWMutex
	known map[string]foundField
}

// maxFound bounds the places remembered for one format.
const maxFound = 256

func (m *foundFields) at(pointer string, lookUp func(string) foundField) foundField {
	m.mu.RLock()
	got, ok := m.known[pointer]
	m.mu.RUnlock()
	if ok {
		return got
	}
	got = lookUp(pointer)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil {
		m.known = map[string]foundField{}
	}
	if len(m.known) < maxFound {
		m.known[strings.Clone(pointer)] = got
	}
	return got
}

func cloneFields(in []Field) []Field {
	out := slices.Clone(in)
	for i := range out {
		out[i].Enum = cloneEnum(out[i].Enum)
	}
	return out
}

func cloneEnum(in []json.RawMessage) []json.RawMessage {
	out := slices.Clone(in)
	for i := range out {
		out[i] = slices.Clone(out[i])
	}
	return out
}

// place is a place in the values: one of several conjunctions holds there.
type place struct {
	pointer  string
	name     string // last member name on the way
	alts     []conj
	required bool
	role     Role // declared, there or above
}

func rootPlace(root *node) place {
	p := place{alts: alternatives(conj{root}), required: true}
	return p.declare()
}

// field sums up what the alternatives say.
func (p place) field(work *int) Field {
	f := Field{Pointer: p.pointer, Required: p.required, Role: p.role, Closed: true}
	listed := true
	for i, c := range p.alts {
		f.Types |= c.typesOf()
		f.Closed = f.Closed && len(openIn(c, work)) == 0
		format := c.format()
		if i > 0 && format != f.Format {
			format = ""
		}
		f.Format = format
		list, ok := c.values()
		listed = listed && ok
		for _, v := range list {
			f.Enum = appendValue(f.Enum, v)
		}
	}
	if !listed {
		f.Enum = nil
	}
	if f.Role == 0 {
		f.Role, f.Guessed = guessRole(p.name, f.Format, f.Types), true
	}
	if !f.Guessed && f.Role.IsTarget() {
		f.Closed = false
	}
	return f
}

func appendValue(list []json.RawMessage, v any) []json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		return list
	}
	if raw, err = Canonical(raw); err != nil {
		return list
	}
	if slices.ContainsFunc(list, func(r json.RawMessage) bool { return string(r) == string(raw) }) {
		return list
	}
	return append(list, raw)
}

// declare takes the strictest role that the schemas of the place declare.
func (p place) declare() place {
	for _, c := range p.alts {
		for _, n := range c {
			if n.role != 0 {
				p.role = stricter(p.role, n.role)
			}
		}
	}
	return p
}

// stricter is the role that is asked about more: destination, record, measure,
// payload.
func stricter(a, b Role) Role {
	order := []Role{0, Payload, Measure, Record, Destination}
	if slices.Index(order, a) > slices.Index(order, b) {
		return a
	}
	return b
}

func allFields(root *node) []Field {
	var out []Field
	work := maxClosedWork
	var walk func(p place, above []string)
	walk = func(p place, above []string) {
		if len(out) >= maxFields {
			return
		}
		out = append(out, p.field(&work))
		key := p.key()
		if slices.Contains(above, key) || len(above) >= maxFieldDepth {
			return
		}
		above = append(slices.Clone(above), key)
		for _, t := range p.tokens() {
			if next, ok := p.child(t); ok {
				walk(next, above)
			}
		}
	}
	walk(rootPlace(root), nil)
	return out
}

// key is equal for places with the same schemas.
func (p place) key() string {
	var b strings.Builder
	for _, c := range p.alts {
		for _, n := range c {
			b.WriteString(n.at + "\n")
		}
		b.WriteByte(0)
	}
	return b.String()
}
