package llmtest

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// parameter is a member of an object as a schema describes it.
type parameter struct {
	name     string
	schema   schema
	required bool
}

// schema is as much of a JSON Schema as the model reads.
type schema struct {
	Type       json.RawMessage   `json:"type"`
	Const      json.RawMessage   `json:"const"`
	Enum       []json.RawMessage `json:"enum"`
	Properties map[string]schema `json:"properties"`
	Required   []string          `json:"required"`
	Items      *schema           `json:"items"`
	AnyOf      []schema          `json:"anyOf"`
	OneOf      []schema          `json:"oneOf"`
	Ref        string            `json:"$ref"`
	Defs       map[string]schema `json:"$defs"`
}

func parseSchema(raw json.RawMessage) schema {
	var s schema
	if json.Unmarshal(raw, &s) != nil {
		return schema{}
	}
	return s
}

// is says whether values of the named type are allowed.
func (s schema) is(name string) bool { return strings.Contains(string(s.Type), `"`+name+`"`) }

// parametersOf are the members that a schema describes, sorted by name.
func parametersOf(raw json.RawMessage) []parameter { return parseSchema(raw).parameters() }

func (s schema) parameters() []parameter {
	var out []parameter
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		out = append(out, parameter{name, s.Properties[name], slices.Contains(s.Required, name)})
	}
	return out
}

// value writes text as the schema has it.
func (s schema) value(text string) json.RawMessage {
	switch {
	case len(s.Const) > 0:
		return s.Const
	case len(s.Enum) > 0:
		return s.pick(text)
	case s.is("string"), len(s.Type) == 0:
		return mustJSON(text)
	case s.is("number"), s.is("integer"):
		if _, ok := sum(text, "0"); ok {
			return json.RawMessage(text)
		}
		return json.RawMessage("0")
	case s.is("boolean"):
		return mustJSON(text == "true")
	case s.is("array") && text != "" && s.Items != nil:
		return mustJSON([]json.RawMessage{s.Items.value(text)})
	case s.is("array"):
		return json.RawMessage("[]")
	}
	return json.RawMessage("{}")
}

func (s schema) pick(text string) json.RawMessage {
	for _, e := range s.Enum {
		if string(e) == string(mustJSON(text)) {
			return e
		}
	}
	return s.Enum[0]
}

// alternatives are those of anyOf and oneOf alike.
func (s schema) alternatives() []schema { return slices.Concat(s.AnyOf, s.OneOf) }

// resolve follows a reference into the root's $defs.
func (s schema) resolve(root schema) schema {
	const prefix = "#/$defs/"
	for range 8 {
		if len(s.Ref) <= len(prefix) {
			break
		}
		s = root.Defs[s.Ref[len(prefix):]]
	}
	return s
}
