package planner

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/isolategpt/isolategpt/isc"
)

// The reply's schema helps a model to write a plan and checks nothing: what
// comes back is decoded and validated. It is kept to objects, arrays with a
// bound, enum, const and anyOf, its keys stand in the order in which a plan is
// best written, and it leaves out what a plan rarely needs.

const (
	schemaSteps  = 12 // steps that a model may write at once
	schemaInputs = 8
	maxPointers  = 96 // pointers listed; above, any string
)

// property is a member of an object schema; the order is kept.
type property struct {
	name   string
	schema string
	must   bool
}

func quoted(s string) string {
	raw, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(raw)
}

func objectSchema(ps ...property) string {
	var props, must []string
	for _, p := range ps {
		props = append(props, quoted(p.name)+":"+p.schema)
		if p.must {
			must = append(must, quoted(p.name))
		}
	}
	return `{"type":"object","properties":{` + strings.Join(props, ",") + `},"required":[` + strings.Join(must, ",") + `],"additionalProperties":false}`
}

func enumSchema(words ...string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = quoted(w)
	}
	return `{"type":"string","enum":[` + strings.Join(out, ",") + `]}`
}

func anyOf(schemas ...string) string {
	if len(schemas) == 1 {
		return schemas[0]
	}
	return `{"anyOf":[` + strings.Join(schemas, ",") + `]}`
}

func arraySchema(items string, least, most int) string {
	return fmt.Sprintf(`{"type":"array","items":%s,"minItems":%d,"maxItems":%d}`, items, least, most)
}

const textSchema = `{"type":"string"}`

// What many arguments share stands once, in $defs.
const (
	refSchema    = `{"$ref":"#/$defs/ref"}`
	memorySchema = `{"$ref":"#/$defs/memory"}`
	guardSchema  = `{"$ref":"#/$defs/guard"}`
	formatSchema = `{"$ref":"#/$defs/format"}`
	itemSchema   = `{"$ref":"#/$defs/item"}`
	idSchema     = `{"$ref":"#/$defs/id"}`
)

// pointerSchema lists every pointer that a result can have, if all results are
// known and they are few.
func pointerSchema(cards []card) string {
	all := map[string]bool{"": true}
	for _, c := range cards {
		if c.response.t.any {
			return textSchema
		}
		c.response.pointers("", all)
	}
	if len(all) > maxPointers {
		return textSchema
	}
	return enumSchema(sortedKeys(all)...)
}

const literalSchemas = `{"type":"number"},{"type":"boolean"},{"type":"string"}`

// planSchema is the schema of the whole reply. It has alternatives for each
// functionality, and one each for decide, ask and, where there is an app for
// it, delegate.
func planSchema(cards []card, agents, keys []string) json.RawMessage {
	pointers := pointerSchema(cards)
	var steps []string
	for _, c := range cards {
		steps = append(steps, c.schema)
	}
	inputs := arraySchema(anyOf(refSchema, memorySchema), 0, schemaInputs)
	if len(agents) > 0 {
		steps = append(steps, objectSchema(property{"id", idSchema, true}, property{"do", enumSchema("delegate"), true},
			property{"app", enumSchema(agents...), true}, property{"task", textSchema, true}, property{"inputs", inputs, true}))
	}
	steps = append(steps,
		objectSchema(property{"id", idSchema, true}, property{"do", enumSchema("decide"), true},
			property{"inputs", inputs, true}, property{"question", textSchema, true}, property{"format", formatSchema, false}),
		objectSchema(property{"id", idSchema, true}, property{"do", enumSchema("ask"), true},
			property{"question", textSchema, true}, property{"format", formatSchema, false}))
	steps = append(steps,
		objectSchema(property{"id", idSchema, true}, property{"do", enumSchema("where"), true}, property{"from", refSchema, true},
			property{"field", pointers, true}, property{"op", enumSchema("eq", "ne", "lt", "le", "gt", "ge"), true},
			property{"value", `{"anyOf":[` + literalSchemas + `,` + refSchema + `,` + memorySchema + `]}`, true}),
		objectSchema(property{"id", idSchema, true}, property{"do", enumSchema("best"), true}, property{"from", refSchema, true},
			property{"field", pointers, true}, property{"most", enumSchema("largest", "smallest", "latest", "earliest"), true}))
	template := objectSchema(property{"template", arraySchema(anyOf(textSchema, refSchema), 1, schemaInputs), true})
	root := objectSchema(property{"steps", arraySchema(anyOf(steps...), 1, schemaSteps), true},
		property{"answer", anyOf(refSchema, template), true})
	return json.RawMessage(root[:len(root)-1] + `,"$defs":` + definitions(pointers, keys) + `}`)
}

func definitions(pointers string, keys []string) string {
	ids := make([]string, schemaSteps)
	for i := range ids {
		ids[i] = fmt.Sprintf("s%d", i+1)
	}
	plain := objectSchema(property{"type", enumSchema("string", "number", "integer", "boolean"), true})
	found := objectSchema(property{"type", enumSchema("string"), true}, property{"found", `{"type":"boolean"}`, true})
	dated := objectSchema(property{"type", enumSchema("string"), true}, property{"format", enumSchema("date", "time", "email"), true})
	list := objectSchema(property{"type", enumSchema("array"), true}, property{"items", anyOf(found, plain), true}, property{"max_items", `{"type":"integer"}`, true})
	return `{"id":` + enumSchema(ids...) +
		`,"ref":` + objectSchema(property{"step", idSchema, true}, property{"pointer", pointers, true}) +
		`,"memory":` + objectSchema(property{"memory", enumSchema(keys...), true}) +
		`,"guard":` + objectSchema(property{"op", enumSchema("eq", "ne", "lt", "le", "gt", "ge"), true},
		property{"a", refSchema, true}, property{"b", `{"anyOf":[` + literalSchemas + `,` + refSchema + `]}`, true}) +
		`,"item":` + objectSchema(property{"item", pointers, true}) +
		`,"format":` + anyOf(plain, found, dated, objectSchema(property{"pick", refSchema, true}), list) + `}`
}

// callSchema has the alternatives for the calls of one functionality: a plain
// one, one over each element of an array, and, if it changes something, one
// under a condition. They differ in "do", so that a model decides first: keys
// that may be null get filled in by small models.
func callSchema(e Entry, request *node) string {
	head := func(do string) []property {
		ps := []property{{"id", idSchema, true}, {"do", enumSchema(do), true}, {"functionality", enumSchema(e.Name), true}}
		if len(e.Providers) > 1 {
			ids := make([]string, len(e.Providers))
			for i, id := range e.Providers {
				ids[i] = string(id)
			}
			ps = append(ps, property{"app", enumSchema(ids...), false})
		}
		return ps
	}
	plain := argumentsSchema(request, 0, "")
	out := []string{objectSchema(append(head("call"), property{"args", plain, true})...)}
	if slices.ContainsFunc(request.fields, func(f *node) bool { return f.required }) {
		out = append(out, objectSchema(append(head(doEach), property{"each", refSchema, true},
			property{"args", argumentsSchema(request, 0, itemSchema), true}, property{"at_most", `{"type":"integer"}`, true})...))
	}
	if e.Effect != isc.Read {
		out = append(out, objectSchema(append(head(doIf), property{"when", guardSchema, true}, property{"args", plain, true})...))
	}
	return strings.Join(out, ",")
}

func argumentsSchema(n *node, depth int, item string) string {
	var ps []property
	for _, c := range n.fields {
		ps = append(ps, property{c.name, argumentSchema(c, depth, item), c.required})
	}
	return objectSchema(ps...)
}

// argumentSchema is what may stand for a value of the type: a literal of it, a
// reference, or, if item is its schema, something of the current element.
func argumentSchema(n *node, depth int, item string) string {
	var out []string
	if n.t.types&isc.TypeString != 0 || n.t.any {
		if words := tokens(n.t.enum); words != nil {
			out = append(out, enumSchema(words...))
		} else {
			out = append(out, textSchema)
		}
	}
	switch {
	case n.t.types&isc.TypeNumber != 0:
		out = append(out, `{"type":"number"}`)
	case n.t.types&isc.TypeInteger != 0:
		out = append(out, `{"type":"integer"}`)
	}
	if n.t.types&isc.TypeBoolean != 0 {
		out = append(out, `{"type":"boolean"}`)
	}
	if n.t.types&isc.TypeArray != 0 && !n.t.any && n.elem != nil && depth < 2 {
		out = append(out, arraySchema(argumentSchema(n.elem, depth+1, item), 0, schemaInputs))
	}
	if n.t.types&isc.TypeObject != 0 && !n.t.any && len(n.fields) > 0 && depth < 2 {
		out = append(out, objectSchema(property{"object", argumentsSchema(n, depth+1, item), true}))
	}
	out = append(out, refSchema, memorySchema)
	if item != "" {
		out = append(out, item)
	}
	return anyOf(out...)
}
