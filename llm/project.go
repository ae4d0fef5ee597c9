package llm

import (
	"encoding/json"
	"fmt"
)

// Projection is a JSON Schema in the small language that models' servers
// understand, and the way back from what a model wrote under it. It is
// immutable and safe for concurrent use.
type Projection struct {
	// Schema is an object at its root, always with properties. Its keywords are
	// type, properties, required, additionalProperties, items, minItems,
	// maxItems, enum, const, anyOf, description, $ref and $defs.
	Schema json.RawMessage
	// Strict says that every part of it is closed, as OpenAI's strict mode
	// demands. It is false where the original leaves something open: an object
	// with any members, or a value of any type.
	Strict bool

	root    *shape
	defs    map[string]*shape
	wrapped bool
}

// wrapKey is the one member of the object that a root which is no object is
// wrapped in.
const wrapKey = "value"

// Project makes a projection of schema. Objects are closed, and every optional
// property is required and nullable; [Projection.Restore] undoes that. What
// the small language lacks (patterns, formats, bounds on strings and numbers,
// negation, conditions) is left out, so a reply that fits the projection need
// not fit the schema: whoever asked checks it. A root that is no plain object
// is wrapped in one. References inside the schema stay references, so a
// recursive schema has a finite projection.
//
// The projection has at most 10 times the bytes of schema, and 256 more. A
// schema that is no JSON, nests deeper than 64, refers outside of itself or to
// itself without end, or allows nothing is an error.
//
// Source: OpenAI's structured outputs; the grammars of llama.cpp, which Ollama
// shares.
func Project(schema json.RawMessage) (*Projection, error) {
	doc, err := parseJSON(schema)
	if err != nil {
		return nil, fmt.Errorf("llm: project: %w", err)
	}
	b := &shaper{doc: doc, left: 2*len(schema) + 64, names: map[string]string{}, defs: map[string]*shape{}}
	root, err := b.shape(doc, 0)
	if err == nil {
		err = b.finish()
	}
	if err != nil {
		return nil, fmt.Errorf("llm: project: %w", err)
	}
	p := &Projection{root: root, defs: b.defs, wrapped: !root.plainObject()}
	top := root
	if p.wrapped {
		top = &shape{kinds: kindObject, props: []prop{{raw: []byte(`"` + wrapKey + `"`), name: wrapKey, shape: root}}}
	}
	w := &shapeWriter{strict: true}
	w.root(top, b.order, b.defs)
	if limit := 10*len(schema) + 256; len(w.out) > limit {
		return nil, fmt.Errorf("llm: project: the projection of %d bytes has over %d", len(schema), limit)
	}
	p.Schema, p.Strict = w.out, w.strict
	return p, nil
}
