package permission

import (
	"iter"
	"slices"

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
		for _, s := range [...]string{q.From.Name, q.To.Name, q.Purpose, q.Query, q.Degraded, q.Host} {
			if !yield(s) {
				return
			}
		}
		for _, p := range q.Options {
			if !yield(p.Name) {
				return
			}
		}
		for _, f := range q.Flows {
			if !f.texts(yield) {
				return
			}
		}
		for _, f := range q.Fields {
			if !yield(f.Pointer) {
				return
			}
		}
	}
}

// texts yields those of a flow, and says whether to go on.
func (f Flow) texts(yield func(string) bool) bool {
	for _, s := range [...]string{f.Step, f.App.Name, string(f.Functionality)} {
		if !yield(s) {
			return false
		}
	}
	for _, in := range f.Inputs {
		if !yield(in.Name) || !yield(in.Source) {
			return false
		}
	}
	return true
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
