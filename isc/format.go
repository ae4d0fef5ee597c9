package isc

import (
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// Format is what a message must look like: a JSON Schema that was read strictly,
// refers to nothing outside of itself, and is checked with its formats asserted.
//
// A Format is immutable and may be used concurrently. The nil and the zero Format
// accept nothing and are not closed.
//
// Source: paper §IV-C3 (message formats); design, sections 3 and 5.
type Format struct{ c *compiled }

type compiled struct {
	found  foundFields
	schema []byte // canonical
	tree   any    // what is compiled: see loader
	root   *node
	extra  []string
	notes  []Note
	digest Digest
	limits Limits
	plain  *jsonschema.Schema
	paths  int       // see node.paths
	chain  int       // see longestChain
	pool   sync.Pool // of *validator, for bodies that may take long

	open   func() []string
	fields func() []Field
}

// Note is something about a format that its user should know. Text is fixed
// words; Pointer is a JSON Pointer in the schema, written by the app, and for a
// guessed role a pointer in its values.
type Note struct{ Pointer, Keyword, Text string }

// roleKeyword declares the [Role] of a field.
const roleKeyword = "x-isolate-role"

// ParseFormat reads a JSON Schema of at most 256 KiB and 2048 subschemas. $schema
// may name draft 4, 6, 7, 2019-09 or 2020-12, and each keeps its meaning; without
// it the schema is 2020-12. References may go to any schema of the document.
//
// Unknown formats and patterns that RE2 does not have are not checked: such a
// field is free text, and a [Note] says so. An unknown dialect, a reference out
// of the document, and a cycle that reads none of the value are errors.
func ParseFormat(schema []byte) (*Format, error) {
	limits := Limits{Size: maxSchemaSize, Depth: 64, Nodes: 1 << 15}
	got, err := decode(schema, limits, true)
	if err != nil {
		return nil, errors.Join(errors.New("isc: format: no strict JSON"), err)
	}
	d, err := dialectOf(got.tree)
	if err != nil {
		return nil, err
	}
	l := newLoader(got.tree, d)
	root, err := l.load()
	if err != nil {
		return nil, err
	}
	c := &compiled{schema: got.canonical, tree: got.tree, root: root, extra: l.extra, digest: DigestOf(got.canonical)}
	c.limits = l.valueLimits()
	if err := c.compile(d, l.nodes); err != nil {
		return nil, err
	}
	c.open = sync.OnceValue(func() []string { return openLeaves(root) })
	c.fields = sync.OnceValue(func() []Field { return allFields(root) })
	c.notes = append(l.notes, roleNotes(c.fields())...)
	return &Format{c}, nil
}

func dialectOf(tree any) (*dialect, error) {
	m, _ := tree.(map[string]any)
	v, ok := m["$schema"]
	if !ok {
		return dialects["json-schema.org/draft/2020-12/schema"], nil
	}
	uri, _ := v.(string)
	d, known := findDialect(uri)
	if !known {
		return nil, schemaErr("", "$schema %s: unknown dialect; draft-04, -06, -07, 2019-09 and 2020-12 are understood", quoted(uri))
	}
	return d, nil
}

// valueLimits bounds strings further where patterns are costly.
func (l *loader) valueLimits() Limits {
	limits := defaultLimits
	for _, n := range l.nodes {
		cost := patternCost(n.pattern)
		for _, p := range n.patterns {
			cost = max(cost, patternCost(p.re.String()))
		}
		if cost > 0 {
			limits.String = min(limits.String, max(patternWork/cost, 1<<10))
		}
	}
	return limits
}

// MustFormat is [ParseFormat] for schemas that are constants of the program. It
// panics where that fails.
func MustFormat(schema string) *Format {
	f, err := ParseFormat([]byte(schema))
	if err != nil {
		panic(err)
	}
	return f
}

func (f *Format) isNone() bool { return f == nil || f.c == nil }

// Closed says whether no value of the format can carry an instruction, and if it
// can, where: JSON Pointers in the values, with "*" for the elements of an array
// or the further members of an object.
//
// Closed are: booleans, null, numbers with both bounds, enumerations of at most
// 64 words of at most 64 of A-Z a-z 0-9 _ - and space, dates, times, UUIDs, IP
// addresses, strings of at most 64 printable ASCII characters without a space by
// an anchored pattern; and arrays and objects made of these, where objects admit
// no member that is not named. A field declared to be a destination or a record
// is never closed.
//
// Source: design, section 3.
func (f *Format) Closed() (closed bool, open []string) {
	if f.isNone() {
		return false, []string{""}
	}
	open = f.c.open()
	return len(open) == 0, slices.Clone(open)
}

// Schema is the whole schema, canonical, as the app wrote it.
func (f *Format) Schema() json.RawMessage {
	if f.isNone() {
		return nil
	}
	return slices.Clone(f.c.schema)
}

// Digest is over [Format.Schema]. The nil Format has none.
func (f *Format) Digest() Digest {
	if f.isNone() {
		return Digest{}
	}
	return f.c.digest
}

// Notes are what a load report should show, in the order of the schema.
func (f *Format) Notes() []Note {
	if f.isNone() {
		return nil
	}
	return slices.Clone(f.c.notes)
}

// MarshalJSON is [Format.Schema]; the nil Format is null.
func (f *Format) MarshalJSON() ([]byte, error) {
	if f.isNone() {
		return []byte("null"), nil
	}
	return f.Schema(), nil
}

// UnmarshalJSON is [ParseFormat].
func (f *Format) UnmarshalJSON(b []byte) error {
	parsed, err := ParseFormat(b)
	if err != nil {
		return err
	}
	*f = *parsed
	return nil
}
