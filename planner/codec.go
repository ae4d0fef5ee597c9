package planner

import (
	"encoding/json"
	"fmt"

	"github.com/isolategpt/isolategpt/isc"
)

// Limits of the plan language. A plan over one of them does not decode.
const (
	MaxPlan   = 64 << 10 // bytes of JSON
	MaxSteps  = 128
	MaxDepth  = 16   // nesting of a value, guard or shape
	MaxParts  = 256  // elements of one array, object or template, as written
	MaxText   = 8192 // bytes of one question, task or template part
	MaxAtMost = 1000 // bound on each and on a delegate's calls
	MaxItems  = 1000 // bound on an answer's array
	MaxReplan = 3
)

// DecodeError says why bytes are no plan. All that is wrong is reported at
// once.
type DecodeError struct{ Problems []Problem }

// Error lists the problems, a line each.
func (e *DecodeError) Error() string { return "planner: plan: " + join(e.Problems) }

// DecodePlan decodes the JSON form of a plan, strictly: the rules of
// [isc.Canonical] and no unknown key anywhere. A null where something may be
// left out counts as left out. What decodes is not yet valid: see
// [Plan.Validate].
//
// Errors are [*DecodeError]. It never panics, and takes time linear in raw,
// which may have at most [MaxPlan] bytes.
func DecodePlan(raw []byte) (*Plan, error) {
	if len(raw) > MaxPlan {
		return nil, &DecodeError{[]Problem{{Code: CodeTooLarge, Text: fmt.Sprintf("over %d bytes", MaxPlan)}}}
	}
	doc, err := isc.Canonical(raw)
	if err != nil {
		return nil, &DecodeError{[]Problem{{Code: CodeMalformed, Text: fmt.Sprintf("not strict JSON: %v", err)}}}
	}
	d := &decoder{}
	p := d.plan(doc)
	if len(d.problems) > 0 {
		return nil, &DecodeError{d.problems}
	}
	return p, nil
}

// UnmarshalJSON is [DecodePlan].
func (p *Plan) UnmarshalJSON(raw []byte) error {
	q, err := DecodePlan(raw)
	if err != nil {
		return err
	}
	*p = *q
	return nil
}

// decoder collects problems while it reads canonical JSON. Its methods return
// zero values where something is wrong; the result counts only if there are no
// problems.
type decoder struct {
	problems []Problem
	step     string
}

func (d *decoder) fail(at string, code Code, format string, args ...any) {
	d.problems = append(d.problems, Problem{d.step, at, code, fmt.Sprintf(format, args...)})
}

// fields is an object being read: what is left at the end is unknown.
type fields struct {
	d    *decoder
	at   string
	left map[string]json.RawMessage
}

func (d *decoder) object(raw json.RawMessage, at string) *fields {
	f := &fields{d: d, at: at}
	if len(raw) == 0 || raw[0] != '{' || json.Unmarshal(raw, &f.left) != nil {
		d.fail(at, CodeMalformed, "not an object")
	}
	return f
}

// take removes a key. A key that must be there and is not is a problem.
func (f *fields) take(key string, must bool) (json.RawMessage, bool) {
	raw, ok := f.left[key]
	delete(f.left, key)
	if ok && string(raw) != "null" {
		return raw, true
	}
	if must {
		f.d.fail(f.at, CodeMalformed, "%q is missing", key)
	}
	return nil, false
}

// takeValue is take for a key whose null is a value.
func (f *fields) takeValue(key string) (json.RawMessage, bool) {
	raw, ok := f.left[key]
	delete(f.left, key)
	if !ok {
		f.d.fail(f.at, CodeMalformed, "%q is missing", key)
	}
	return raw, ok
}

func (f *fields) has(key string) bool { _, ok := f.left[key]; return ok }

func (f *fields) text(key string, must bool) string {
	raw, ok := f.take(key, must)
	if !ok {
		return ""
	}
	return f.d.text(raw, f.at+"/"+key)
}

func (d *decoder) text(raw json.RawMessage, at string) string {
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		d.fail(at, CodeMalformed, "not a string")
	}
	if len(s) > MaxText {
		d.fail(at, CodeTooLarge, "over %d bytes", MaxText)
	}
	return s
}

// count reads a whole number from 0 to most.
func (f *fields) count(key string, most int) int {
	raw, ok := f.take(key, false)
	if !ok {
		return 0
	}
	var n int
	if json.Unmarshal(raw, &n) != nil || n < 0 || n > most {
		f.d.fail(f.at+"/"+key, CodeMalformed, "not a whole number from 0 to %d", most)
		return 0
	}
	return n
}

func (f *fields) flag(key string) bool {
	raw, ok := f.take(key, false)
	if !ok {
		return false
	}
	var b bool
	if json.Unmarshal(raw, &b) != nil {
		f.d.fail(f.at+"/"+key, CodeMalformed, "not true or false")
	}
	return b
}

func (f *fields) list(key string, must bool) []json.RawMessage {
	raw, ok := f.take(key, must)
	if !ok {
		return nil
	}
	return f.d.list(raw, f.at+"/"+key)
}

func (d *decoder) list(raw json.RawMessage, at string) []json.RawMessage {
	var out []json.RawMessage
	if len(raw) == 0 || raw[0] != '[' || json.Unmarshal(raw, &out) != nil {
		d.fail(at, CodeMalformed, "not an array")
	}
	if len(out) > MaxParts {
		d.fail(at, CodeTooLarge, "over %d elements", MaxParts)
		return nil
	}
	return out
}

func (f *fields) texts(key string) []string {
	var out []string
	for i, raw := range f.list(key, false) {
		out = append(out, f.d.text(raw, fmt.Sprintf("%s/%s/%d", f.at, key, i)))
	}
	return out
}

// end reports the keys that nobody took.
func (f *fields) end() {
	for _, key := range sortedKeys(f.left) {
		f.d.fail(f.at, CodeMalformed, "unknown key %q", short(key))
	}
}

// short bounds a word of the plan in a problem's text.
func short(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return fmt.Sprintf("%s… (%d bytes)", s[:most], len(s))
}
