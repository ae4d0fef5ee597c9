package spoke

import (
	"strings"

	"github.com/isolategpt/isolategpt/isc"
)

// signature writes a tool for a prompt: name(to: string email, note?: string).
func (t tool) signature() string {
	switch t.kind {
	case needTool:
		return t.name + "(fields: list of {name: string, purpose: string})"
	case finishTool:
		return t.name + "(answer)"
	default:
		return t.name + "(" + parameters(t.functionality.Request) + ")"
	}
}

// parameters are the members at the top of a format, in the format's order.
func parameters(f *isc.Format) string {
	var out []string
	for _, field := range f.Fields() {
		name, ok := strings.CutPrefix(field.Pointer, "/")
		if !ok || name == "*" || strings.Contains(name, "/") {
			continue
		}
		if !field.Required {
			name += "?"
		}
		out = append(out, name+": "+typeWords(field))
	}
	return strings.Join(out, ", ")
}

var typeNames = []struct {
	bit  isc.Types
	name string
}{
	{isc.TypeNull, "null"}, {isc.TypeBoolean, "boolean"}, {isc.TypeInteger, "integer"}, {isc.TypeNumber, "number"},
	{isc.TypeString, "string"}, {isc.TypeArray, "list"}, {isc.TypeObject, "object"},
}

func typeWords(f isc.Field) string {
	if len(f.Enum) > 0 {
		values := make([]string, len(f.Enum))
		for i, e := range f.Enum {
			values[i] = string(e)
		}
		return strings.Join(values, "|")
	}
	var names []string
	for _, t := range typeNames {
		// An integer is a number too; one word says it.
		said := t.bit == isc.TypeInteger && f.Types&isc.TypeNumber != 0
		if f.Types&t.bit != 0 && !said {
			names = append(names, t.name)
		}
	}
	words := strings.Join(names, "|")
	if f.Format != "" {
		words += " " + f.Format
	}
	return words
}
