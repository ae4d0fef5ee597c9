package isc

import (
	"encoding/json"
	"slices"
)

// bareKeywords are what [Format.Bare] keeps beside the keywords that hold
// schemas.
var bareKeywords = []string{
	"$ref", "const", "dependentRequired", "enum", "exclusiveMaximum", "exclusiveMinimum", "format", "maxContains",
	"maxItems", "maxLength", "maxProperties", "maximum", "minContains", "minItems", "minLength", "minProperties",
	"minimum", "multipleOf", "pattern", "required", "type", "uniqueItems",
}

// Bare is the schema without the app's prose: only keywords that are checked are
// left, so no title, description, comment, default or example, no keyword that is
// not known, and no pattern or format that cannot be checked. It is canonical and
// a valid schema that accepts the same values. Names of properties and the values
// of enumerations stay: the schema means nothing without them.
//
// Source: security scenario A5.
func (f *Format) Bare() json.RawMessage {
	if f.isNone() {
		return nil
	}
	tree := bareSchema(f.c.tree)
	if m, ok := tree.(map[string]any); ok {
		if full, _ := f.c.declared(); full != "" {
			m["$schema"] = full
		}
		for _, at := range f.c.extra {
			f.c.graft(m, at)
		}
	}
	raw, err := json.Marshal(tree)
	if err != nil {
		return nil
	}
	out, err := Canonical(raw)
	if err != nil {
		return nil
	}
	return out
}

// declared is the $schema that the app wrote.
func (c *compiled) declared() (string, bool) {
	var head struct {
		Schema string `json:"$schema"`
	}
	if json.Unmarshal(c.schema, &head) != nil {
		return "", false
	}
	return head.Schema, head.Schema != ""
}

// graft copies the schema at a pointer where bareSchema does not look.
func (c *compiled) graft(to map[string]any, at string) {
	tokens, err := splitPointer(at)
	if err != nil {
		return
	}
	from := c.tree
	for i, t := range tokens {
		m, _ := from.(map[string]any)
		from = m[t]
		if i == len(tokens)-1 {
			to[t] = bareSchema(from)
			return
		}
		next, ok := to[t].(map[string]any)
		if !ok {
			next = map[string]any{}
			to[t] = next
		}
		to = next
	}
}

func bareSchema(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	out := map[string]any{}
	for key, value := range m {
		list, isList := value.([]any)
		members, isMap := value.(map[string]any)
		switch {
		case slices.Contains(bareKeywords, key):
			out[key] = value
		case slices.Contains(listOfSchemas, key) && isList:
			out[key] = bareList(list)
		case slices.Contains(mapOfSchemas, key) && isMap:
			out[key] = bareMembers(members)
		case slices.Contains(oneSchema, key):
			out[key] = bareSchema(value)
		}
	}
	return out
}

func bareList(list []any) []any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = bareSchema(v)
	}
	return out
}

func bareMembers(members map[string]any) map[string]any {
	out := make(map[string]any, len(members))
	for name, v := range members {
		out[name] = bareSchema(v)
	}
	return out
}
