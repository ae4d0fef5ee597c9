package permission

import (
	"encoding/json"
	"iter"
	"slices"
	"strings"

	"github.com/isolategpt/isolategpt/isc"
)

// clone is a deep copy: nothing in it is shared with q.
func (q Question) clone() Question {
	q.Payload = slices.Clone(q.Payload)
	q.Fields = slices.Clone(q.Fields)
	q.Options = slices.Clone(q.Options)
	q.Warnings = slices.Clone(q.Warnings)
	q.Flows = slices.Clone(q.Flows)
	for i, f := range q.Flows {
		f.Inputs = slices.Clone(f.Inputs)
		for j := range f.Inputs {
			f.Inputs[j].Literal = slices.Clone(f.Inputs[j].Literal)
		}
		q.Flows[i] = f
	}
	return q
}

// texts yields every text of q that is shown and that somebody other than the
// hub may have written, but for those inside payload and literals.
func (q Question) texts() iter.Seq[string] {
	return func(yield func(string) bool) {
		all := []string{q.From.Name, q.To.Name, q.Purpose, q.Query, q.Degraded, q.Host}
		for _, p := range q.Options {
			all = append(all, p.Name)
		}
		for _, f := range q.Flows {
			all = append(all, f.Step, f.App.Name, string(f.Functionality))
			for _, in := range f.Inputs {
				all = append(all, in.Name, in.Source)
			}
		}
		for _, f := range q.Fields {
			all = append(all, f.Pointer)
		}
		for _, s := range all {
			if !yield(s) {
				return
			}
		}
	}
}

// targets are the values of the payload's destinations and records, by pointer.
// An optional target that the payload lacks is not among them, so that a later
// question that has it differs.
func (q Question) targets() map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for _, f := range q.Fields {
		if !f.Role.IsTarget() {
			continue
		}
		if v, ok := isc.Get(q.Payload, f.Pointer); ok {
			out[f.Pointer] = slices.Clone(v)
			continue
		}
		if v := selectAll(q.Payload, f.Pointer); v != nil {
			out[f.Pointer] = v
		}
	}
	return out
}

// selectAll is the array of what a pointer with "*" selects, or nil.
func selectAll(doc []byte, pointer string) json.RawMessage {
	if !slices.Contains(strings.Split(pointer, "/"), "*") {
		return nil
	}
	values, err := isc.Select(doc, pointer)
	if err != nil || len(values) == 0 {
		return nil
	}
	out, err := json.Marshal(values)
	if err != nil {
		return nil
	}
	return out
}

// onceOnly says why a decision on q cannot be remembered at all, or "".
func (q Question) onceOnly() string {
	switch {
	case q.Kind == Irreversible:
		return "an act that cannot be undone is asked each time"
	case (q.Kind == Collaborate || q.Kind == Change) && q.Effect == isc.Irreversible:
		return "what the app would do cannot be undone, so it is asked each time"
	case !q.Kind.rememberable():
		return "this is asked each time"
	case q.Kind != SelectApp && q.Pin == (isc.Digest{}):
		return "there is no definition to pin a permission to"
	default:
		return ""
	}
}
