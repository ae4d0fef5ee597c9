package planner

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

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
	MaxReplan = 2
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
	d := &decoder{fields: make([]field, 0, 32)}
	p := d.plan(string(doc))
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
	fields   []field // of all objects so far
}

func (d *decoder) fail(at path, code Code, format string, args ...any) {
	d.problems = append(d.problems, Problem{d.step, at.String(), code, fmt.Sprintf(format, args...)})
}

// fields is an object being read: what is left at the end is unknown.
type fields struct {
	d    *decoder
	at   path
	left []field
	bad  bool // no object
}

// field is a member that was not taken yet, in canonical JSON.
type field struct {
	key, raw string
	taken    bool
}

func (d *decoder) object(raw string, at path) fields {
	f := fields{d: d, at: at}
	if raw == "" || raw[0] != '{' {
		f.bad = true
		d.fail(at, CodeMalformed, "not an object")
		return f
	}
	from := len(d.fields)
	for key, value := range isc.Members(raw) {
		d.fields = append(d.fields, field{key: key, raw: value})
	}
	f.left = d.fields[from:len(d.fields):len(d.fields)]
	return f
}

// find is a member that was not taken, or nil.
func (f *fields) find(key string) *field {
	for i := range f.left {
		if f.left[i].key == key && !f.left[i].taken {
			return &f.left[i]
		}
	}
	return nil
}

// take removes a key. A key that must be there and is not is a problem.
func (f *fields) take(key string, must bool) (string, bool) {
	if m := f.find(key); m != nil {
		if m.taken = true; m.raw != "null" {
			return m.raw, true
		}
	}
	if must {
		f.d.fail(f.at, CodeMalformed, "%q is missing", key)
	}
	return "", false
}

// takeValue is take for a key whose null is a value.
func (f *fields) takeValue(key string) (string, bool) {
	m := f.find(key)
	if m == nil {
		f.d.fail(f.at, CodeMalformed, "%q is missing", key)
		return "", false
	}
	m.taken = true
	return m.raw, true
}

func (f *fields) has(key string) bool { return f.find(key) != nil }

func (f *fields) text(key string, must bool) string {
	raw, ok := f.take(key, must)
	if !ok {
		return ""
	}
	return f.d.text(raw, f.at.member("", key))
}

func (d *decoder) text(raw string, at path) string {
	s, ok := unquoted(raw)
	if !ok {
		d.fail(at, CodeMalformed, "not a string")
	}
	if len(s) > MaxText {
		d.fail(at, CodeTooLarge, "over %d bytes", MaxText)
	}
	return s
}

// unquoted is the text of a string in canonical JSON.
func unquoted(raw string) (string, bool) {
	if raw == "" || raw[0] != '"' {
		return "", false
	}
	if strings.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1], true
	}
	var s string
	err := json.Unmarshal([]byte(raw), &s)
	return s, err == nil
}

// count reads a whole number from 0 to most.
func (f *fields) count(key string, most int) int {
	raw, ok := f.take(key, false)
	if !ok {
		return 0
	}
	var n int
	if json.Unmarshal([]byte(raw), &n) != nil || n < 0 || n > most {
		f.d.fail(f.at.member("", key), CodeMalformed, "not a whole number from 0 to %d", most)
		return 0
	}
	return n
}

func (f *fields) flag(key string) bool {
	raw, ok := f.take(key, false)
	if !ok {
		return false
	}
	if raw != "true" && raw != "false" {
		f.d.fail(f.at.member("", key), CodeMalformed, "not true or false")
	}
	return raw == "true"
}

func (f *fields) list(key string, must bool) []string {
	raw, ok := f.take(key, must)
	if !ok {
		return nil
	}
	return f.d.list(raw, f.at.member("", key))
}

func (d *decoder) list(raw string, at path) []string {
	if raw == "" || raw[0] != '[' {
		d.fail(at, CodeMalformed, "not an array")
		return nil
	}
	out := slices.Collect(isc.Elements(raw))
	if len(out) > MaxParts {
		d.fail(at, CodeTooLarge, "over %d elements", MaxParts)
		return nil
	}
	return out
}

func (f *fields) texts(key string) []string {
	var out []string
	at := f.at.member("", key)
	for i, raw := range f.list(key, false) {
		out = append(out, f.d.text(raw, at.item("", i)))
	}
	return out
}

// end reports the keys that nobody took.
func (f *fields) end() {
	for _, m := range f.left { // in the order of the keys
		if !m.taken {
			f.d.fail(f.at, CodeMalformed, "unknown key %q", short(m.key))
		}
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
