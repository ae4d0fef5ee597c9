package hub

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/planner"
)

// errAbsent says that a value is not there: its step was skipped or failed, or
// its pointer found nothing.
var errAbsent = errors.New("hub: absent")

// labelled is a JSON value with its label.
type labelled struct {
	json  json.RawMessage // canonical
	label isc.Label
	// free says that the value holds free text, and origin who may have written
	// it into this value itself, as against having merely influenced it.
	free bool
}

// scope is what values are resolved in: the results so far, the hub's memory,
// and the element of an each.
type scope struct {
	results map[string]*result
	memory  func(key string) (labelled, bool)
	item    *labelled
}

// resolve evaluates v. errAbsent stands for everything that is not there.
func (s *scope) resolve(v planner.Value) (labelled, error) {
	switch v := v.(type) {
	case planner.Literal:
		canonical, err := isc.Canonical(v.JSON)
		// A plan is made from the user's words alone, so its literals are theirs.
		return labelled{json: canonical, label: isc.UserLabel()}, err
	case planner.Ref:
		return s.ref(v)
	case planner.Memory:
		m, ok := s.memory(v.Key)
		if !ok {
			return labelled{}, errAbsent
		}
		return m, nil
	case planner.Item:
		if s.item == nil {
			return labelled{}, errAbsent
		}
		return pick(*s.item, v.Pointer, false)
	case planner.Template:
		return s.template(v)
	case planner.Object:
		return s.object(v.Fields)
	case planner.Array:
		return s.array(v)
	default:
		return labelled{}, fmt.Errorf("hub: unknown kind of value %T", v)
	}
}

func (s *scope) ref(v planner.Ref) (labelled, error) {
	r, ok := s.results[v.Step]
	if !ok || !r.present() {
		return labelled{}, errAbsent
	}
	whole := labelled{json: r.value, label: r.label, free: r.freeAt(v.Pointer)}
	return pick(whole, v.Pointer, v.One)
}

// pick applies a pointer, which may have a "*".
func pick(from labelled, pointer string, one bool) (labelled, error) {
	if !slices.Contains(strings.Split(pointer, "/"), "*") {
		got, ok := isc.Get(from.json, pointer)
		if !ok {
			return labelled{}, errAbsent
		}
		if one {
			return only(got, from)
		}
		from.json = got
		return from, nil
	}
	all, err := isc.Select(from.json, pointer)
	if err != nil {
		return labelled{}, errAbsent
	}
	list := joinArray(all)
	if one {
		return only(list, from)
	}
	from.json = list
	return from, nil
}

// only demands exactly one element.
func only(array json.RawMessage, from labelled) (labelled, error) {
	elements, err := elementsOf(array)
	if err != nil || len(elements) != 1 {
		return labelled{}, errAbsent
	}
	from.json = elements[0]
	return from, nil
}

func elementsOf(array json.RawMessage) ([]json.RawMessage, error) {
	if len(array) == 0 || array[0] != '[' {
		return nil, errAbsent
	}
	var elements []json.RawMessage
	if err := json.Unmarshal(array, &elements); err != nil {
		return nil, errAbsent
	}
	return elements, nil
}

func joinArray(all []json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('[')
	for i, e := range all {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(e)
	}
	b.WriteByte(']')
	return b.Bytes()
}

func (s *scope) template(v planner.Template) (labelled, error) {
	var text strings.Builder
	out := labelled{label: isc.UserLabel()}
	for _, p := range v.Parts {
		got, err := s.resolve(p)
		if err != nil {
			return labelled{}, err
		}
		text.WriteString(plain(got.json))
		out.label, out.free = out.label.Join(got.label), out.free || got.free
	}
	var err error
	out.json, err = quote(text.String())
	return out, err
}

func (s *scope) object(fields map[string]planner.Value) (labelled, error) {
	out := labelled{label: isc.UserLabel()}
	members := make(map[string]json.RawMessage, len(fields))
	for name, f := range fields {
		got, err := s.resolve(f)
		if err != nil {
			return labelled{}, err
		}
		members[name] = got.json
		out.label, out.free = out.label.Join(got.label), out.free || got.free
	}
	var err error
	out.json, err = objectOf(members)
	return out, err
}

func (s *scope) array(v planner.Array) (labelled, error) {
	out := labelled{label: isc.UserLabel()}
	all := make([]json.RawMessage, 0, len(v))
	for _, e := range v {
		got, err := s.resolve(e)
		if err != nil {
			return labelled{}, err
		}
		all = append(all, got.json)
		out.label, out.free = out.label.Join(got.label), out.free || got.free
	}
	out.json = joinArray(all)
	return out, nil
}

// objectOf writes a canonical object of canonical members.
func objectOf(members map[string]json.RawMessage) (json.RawMessage, error) {
	raw, err := json.Marshal(members)
	if err != nil {
		return nil, err
	}
	return isc.Canonical(raw)
}

// quote writes s as canonical JSON.
func quote(s string) (json.RawMessage, error) {
	raw, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	return isc.Canonical(raw)
}

// plain is how a value reads inside text: strings without quotes, everything
// else as JSON.
func plain(v json.RawMessage) string {
	var s string
	if len(v) > 0 && v[0] == '"' && json.Unmarshal(v, &s) == nil {
		return s
	}
	return string(v)
}
