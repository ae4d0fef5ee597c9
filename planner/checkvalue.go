package planner

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/isolategpt/isolategpt/isc"
)

// value checks a value that may be of any type, and gives the type it has.
func (k *checker) value(v Value, at path, depth int) typ {
	switch v := v.(type) {
	case Literal:
		return literalType(v)
	case Ref:
		return k.reference(v, at)
	case Memory:
		return k.memory(v, at)
	case Item:
		return k.current(v, at)
	case Template:
		return k.template(v, at)
	case Object:
		out := typ{types: isc.TypeObject, fields: map[string]typ{}}
		for _, name := range sortedKeys(v.Fields) {
			out.fields[name] = k.value(v.Fields[name], at.member("/object", name), depth+1)
		}
		return out
	case Array:
		elem := anything()
		for i, e := range v {
			if t := k.value(e, at.item("", i), depth+1); i == 0 {
				elem = t
			}
		}
		return arrayOf(elem)
	}
	k.fail(at, CodeMalformed, "there is no value")
	return anything()
}

// literalType is the type of a scalar. What the plan says itself is closed: it
// comes from the user's words.
func literalType(l Literal) typ {
	t := typ{scalar: true, types: scalarType(l.JSON)}
	if t.types == isc.TypeString {
		t.enum = []json.RawMessage{l.JSON}
	}
	return t
}

func scalarType(raw json.RawMessage) isc.Types {
	switch raw[0] {
	case 'n':
		return isc.TypeNull
	case 't', 'f':
		return isc.TypeBoolean
	case '"':
		return isc.TypeString
	}
	if bytes.ContainsAny(raw, ".eE") {
		return isc.TypeNumber
	}
	return isc.TypeInteger
}

// reference checks a reference and gives the type of what it selects.
func (k *checker) reference(r Ref, at path) typ {
	t, ok := k.target(r, at)
	parts, good := split(r.Pointer)
	if !good {
		k.fail(at, CodeBadPointer, "%q is no pointer: it starts with /", short(r.Pointer))
		return anything()
	}
	if slices.ContainsFunc(parts, isNumber) {
		k.fail(at, CodeNumberInPointer, `%q takes an element by its number: use "*" with "one", a where, a best or a pick`, short(r.Pointer))
		return anything()
	}
	if !ok {
		return anything()
	}
	t, star, ok := walk(t, parts)
	switch {
	case !ok:
		k.fail(at, CodeBadPointer, "the result of %s has no %q", r.Step, short(r.Pointer))
		return anything()
	case r.One && !star:
		k.fail(at, CodeBadOne, `"one" is for a pointer with "*"`)
		return t
	case r.One:
		return *t.elem
	}
	return t
}

// target is the type of a step's result, if the step may be referred to here.
func (k *checker) target(r Ref, at path) (typ, bool) {
	pos, ok := k.pos[r.Step]
	switch {
	case !ok:
		k.fail(at, CodeUnknownStep, "there is no step %q", short(r.Step))
	case pos == k.now:
		k.fail(at, CodeCycle, "the step waits for itself")
	case pos > k.now && k.reaches(pos, k.now):
		k.fail(at, CodeCycle, "step %s waits for this one", r.Step)
	case pos > k.now:
		k.fail(at, CodeLaterStep, "step %s comes later: put it before", r.Step)
	default:
		return k.types[r.Step], true
	}
	return typ{}, false
}

// reaches says whether step from refers, over any number of steps, to step to.
func (k *checker) reaches(from, to int) bool {
	seen := make([]bool, len(k.plan.Steps))
	queue := []int{from}
	for len(queue) > 0 {
		i := queue[0]
		queue = queue[1:]
		if i == to {
			return true
		}
		if seen[i] {
			continue
		}
		seen[i] = true
		for _, r := range stepRefs(k.plan.Steps[i]) {
			if j, ok := k.pos[r.Step]; ok {
				queue = append(queue, j)
			}
		}
	}
	return false
}

func (k *checker) memory(m Memory, at path) typ {
	if m.Key == Today {
		return typ{types: isc.TypeString, format: "date", scalar: true}
	}
	if !slices.Contains(k.keys, m.Key) {
		k.fail(at, CodeUnknownMemory, "nothing is remembered under %q", short(m.Key))
	}
	return anything()
}

func (k *checker) current(i Item, at path) typ {
	if k.item == nil {
		k.fail(at, CodeItemOutsideEach, "there is no current element outside a call with each")
		return anything()
	}
	parts, good := split(i.Pointer)
	if !good {
		k.fail(at, CodeBadPointer, "%q is no pointer: it starts with /", short(i.Pointer))
		return anything()
	}
	if slices.ContainsFunc(parts, isNumber) {
		k.fail(at, CodeNumberInPointer, "%q takes an element by its number", short(i.Pointer))
		return anything()
	}
	t, _, ok := walk(*k.item, parts)
	if !ok {
		k.fail(at, CodeBadPointer, "the element has no %q", short(i.Pointer))
		return anything()
	}
	return t
}

func (k *checker) template(t Template, at path) typ {
	out := typ{types: isc.TypeString, scalar: true}
	for i, p := range t.Parts {
		where := at.item("/template", i)
		switch p := p.(type) {
		case Literal:
			if scalarType(p.JSON) != isc.TypeString {
				k.fail(where, CodeBadTemplate, "a literal part is a string")
			}
		case Ref, Item, Memory:
			part := k.value(p, where, 0)
			out.scalar = out.scalar && part.closed()
			out.written = out.written || part.written
		default:
			k.fail(where, CodeBadTemplate, "a part is a string, a reference, an item or a memory key")
		}
	}
	return out
}

// fit checks a value against the place that it goes to.
func (k *checker) fit(v Value, want typ, at path, depth int) {
	switch v := v.(type) {
	case Literal:
		k.literal(v, want, at)
	case Array:
		k.elements(v, want, at, depth)
	case Object:
		k.members(v, want, at, depth)
	default:
		t := k.value(v, at, depth)
		if !fits(t, want) {
			k.fail(at, CodeTypeMismatch, "%s cannot be %s", describe(t), describe(want))
		}
		if writes(t, want, 0) {
			k.fail(at, CodeWrittenTarget, "a model's own words cannot say where something goes: find or pick it")
		}
	}
}

func (k *checker) elements(v Array, want typ, at path, depth int) {
	elem, ok := want.child("*")
	if !want.any && (want.types&isc.TypeArray == 0 || !ok) {
		k.fail(at, CodeTypeMismatch, "an array cannot be %s", describe(want))
		elem = anything()
	}
	if elem.role < isc.Destination || elem.role > isc.Record {
		elem.role = want.role
	}
	for i, e := range v {
		k.fit(e, elem, at.item("", i), depth+1)
	}
}

func (k *checker) members(v Object, want typ, at path, depth int) {
	if !want.any && want.types&isc.TypeObject == 0 {
		k.fail(at, CodeTypeMismatch, "an object cannot be %s", describe(want))
		want = anything()
	}
	for _, name := range sortedKeys(v.Fields) {
		where := at.member("/object", name)
		place, ok := want.child(escape(name))
		if !ok {
			k.fail(where, CodeUnknownArgument, "the format has no %q here", short(name))
			place = anything()
		}
		k.fit(v.Fields[name], place, where, depth+1)
	}
}
