package permission

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/isolategpt/isolategpt/isc"
)

// targets are the values of the payload's destinations and records, by pointer,
// in canonical form. An optional target that the payload lacks is not among them,
// so that a later question that has it differs. For a pointer with "*" it is the
// payload cut down to what the pointer selects, so that another number, order or
// name of parts differs too. What is no pointer stands for the whole payload.
func (q Question) targets() map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for _, f := range q.Fields {
		if !f.Role.IsTarget() {
			continue
		}
		if v, ok := q.target(f.Pointer); ok {
			out[f.Pointer] = v
		}
	}
	return out
}

func (q Question) target(pointer string) (json.RawMessage, bool) {
	payload, err := isc.Canonical(q.Payload)
	if err != nil {
		return nil, false // there is no payload: the gate lets no broken one through
	}
	tokens := strings.Split(pointer, "/")
	if tokens[0] != "" {
		return payload, true
	}
	if !slices.Contains(tokens, "*") {
		return isc.Get(payload, pointer)
	}
	part, found := cutDown(payload, tokens[1:])
	if !found {
		return nil, false
	}
	raw, err := json.Marshal(part)
	if err == nil {
		raw, err = isc.Canonical(raw) // Marshal escapes what the canonical form does not
	}
	if err != nil {
		return payload, true
	}
	return raw, true
}

var escapeToken = strings.NewReplacer("~", "~0", "/", "~1")

// cutDown is what is left of canonical bytes when all but the parts that escaped
// tokens select is taken out, and whether there are any. "*" selects every part,
// also where one of them has that very name. Elements keep their number: one
// without a selected part is null.
func cutDown(value json.RawMessage, tokens []string) (part any, found bool) {
	if len(tokens) == 0 {
		return value, true
	}
	selects := func(name string) bool { return tokens[0] == "*" || tokens[0] == escapeToken.Replace(name) }
	switch value[0] {
	case '{':
		members := map[string]any{}
		for name, v := range isc.Members(value) {
			if !selects(name) {
				continue
			}
			if part, ok := cutDown(v, tokens[1:]); ok {
				members[name] = part
			}
		}
		return members, len(members) > 0
	case '[':
		var elements []any
		for v := range isc.Elements(value) {
			var part any
			if selects(strconv.Itoa(len(elements))) {
				if p, ok := cutDown(v, tokens[1:]); ok {
					part, found = p, true
				}
			}
			elements = append(elements, part)
		}
		return elements, found
	default:
		return nil, false
	}
}
