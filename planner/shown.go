package planner

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/isolategpt/isolategpt/isc"
)

var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]{0,63}$`)

// shown is a name from a format as prompts and problems may show it. A name
// that is no name is words of its author's.
func shown(name string) string {
	if plainName.MatchString(name) {
		return name
	}
	return "(a name that cannot be shown)"
}

var plainToken = regexp.MustCompile(`^[A-Za-z0-9_-]{1,24}$`)

// tokens are the values of an enum if all of them are short words of letters
// and digits, so that they may be shown whoever wrote them.
func tokens(enum []json.RawMessage) []string {
	const most = 12
	if len(enum) == 0 || len(enum) > most {
		return nil
	}
	var out []string
	for _, raw := range enum {
		var s string
		if json.Unmarshal(raw, &s) != nil || !plainToken.MatchString(s) {
			return nil
		}
		out = append(out, s)
	}
	return out
}

func choices(enum []json.RawMessage) string {
	words := tokens(enum)
	if words == nil {
		return ""
	}
	return ": " + strings.Join(words, ", ")
}

// describe names a type in words.
func describe(t typ) string {
	if t.any {
		return "anything"
	}
	names := []string{}
	for _, n := range typeNames {
		if t.types&n.t != 0 && (n.t != isc.TypeInteger || t.types&isc.TypeNumber == 0) {
			names = append(names, n.name)
		}
	}
	if len(names) == 0 {
		return "nothing"
	}
	out := strings.Join(names, " or ")
	if t.format != "" && t.types&isc.TypeString != 0 {
		out += " (" + t.format + ")"
	}
	return out
}

var typeNames = []struct {
	t    isc.Types
	name string
}{
	{isc.TypeBoolean, "a boolean"}, {isc.TypeInteger, "an integer"}, {isc.TypeNumber, "a number"},
	{isc.TypeString, "a string"}, {isc.TypeArray, "an array"}, {isc.TypeObject, "an object"}, {isc.TypeNull, "null"},
}
