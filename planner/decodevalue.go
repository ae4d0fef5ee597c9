package planner

import (
	"encoding/json"
)

// deep reports a value, guard or shape that is nested too deeply.
func (d *decoder) deep(at path, depth int) bool {
	if depth <= MaxDepth {
		return false
	}
	d.fail(at, CodeTooLarge, "nested more than %d deep", MaxDepth)
	return true
}

// value reads a value: a scalar stands for itself, an array for its elements,
// and an object is one of the forms that its keys name.
func (d *decoder) value(raw string, at path, depth int) Value {
	if d.deep(at, depth) {
		return nil
	}
	switch raw[0] {
	case '[':
		out := Array{}
		for i, r := range d.list(raw, at) {
			out = append(out, d.value(r, at.item("", i), depth+1))
		}
		return out
	case '{':
		return d.form(raw, at, depth)
	case '"':
		d.text(raw, at)
	}
	return Literal{JSON: json.RawMessage(raw)}
}

func (d *decoder) form(raw string, at path, depth int) Value {
	f := d.object(raw, at)
	var v Value
	switch {
	case f.has("step"):
		return d.ref(raw, at)
	case f.has("memory"):
		v = Memory{Key: f.text("memory", true)}
	case f.has("item"):
		v = Item{Pointer: f.text("item", true)}
	case f.has("template"):
		t := Template{}
		for i, r := range f.list("template", true) {
			t.Parts = append(t.Parts, d.part(r, at.item("/template", i), depth+1))
		}
		v = t
	case f.has("object"):
		o, _ := f.take("object", true)
		v = Object{Fields: d.members(o, at.to("/object"), depth+1)}
	default:
		d.fail(at, CodeMalformed, `an object must be one of {"step","pointer"}, {"memory"}, {"item"}, {"template"}, {"object"}`)
		return nil
	}
	f.end()
	return v
}

// part reads a part of a template: text, or something that gives text.
func (d *decoder) part(raw string, at path, depth int) Value {
	v := d.value(raw, at, depth)
	switch v := v.(type) {
	case Literal:
		if raw[0] == '"' {
			return v
		}
	case Ref, Item, Memory:
		return v
	case nil:
		return nil
	default: // any other stands as it is
	}
	d.fail(at, CodeBadTemplate, `a part must be a string, {"step","pointer"}, {"item"} or {"memory"}`)
	return nil
}

func (d *decoder) members(raw string, at path, depth int) map[string]Value {
	f := d.object(raw, at)
	if len(f.left) > MaxParts {
		d.fail(at, CodeTooLarge, "over %d fields", MaxParts)
		return nil
	}
	out := make(map[string]Value, len(f.left))
	for _, m := range f.left {
		out[m.key] = d.value(m.raw, at.member("", m.key), depth+1)
	}
	return out
}

func (d *decoder) ref(raw string, at path) Ref {
	f := d.object(raw, at)
	r := Ref{Step: f.text("step", true), Pointer: f.text("pointer", false), One: f.flag("one")}
	f.end()
	return r
}

func (d *decoder) refAt(f *fields, key string) Ref {
	raw, ok := f.take(key, true)
	if !ok {
		return Ref{}
	}
	return d.ref(raw, f.at.member("", key))
}

func (d *decoder) guard(raw string, at path, depth int) Guard {
	if d.deep(at, depth) {
		return nil
	}
	f := d.object(raw, at)
	word := f.text("op", true)
	var g Guard
	switch word {
	case "present":
		g = Present{Ref: d.refAt(&f, "a")}
	case "and", "or", "not":
		g = d.combined(word, &f, depth)
	default:
		op, ok := ops[word]
		if !ok {
			d.fail(at.to("/op"), CodeMalformed, "%q is none of eq, ne, lt, le, gt, ge, in, present, and, or, not", short(word))
			return nil
		}
		c := Compare{Op: op}
		if a, ok := f.takeValue("a"); ok {
			c.A = d.value(a, at.to("/a"), depth+1)
		}
		if b, ok := f.takeValue("b"); ok {
			c.B = d.value(b, at.to("/b"), depth+1)
		}
		g = c
	}
	f.end()
	return g
}

func (d *decoder) combined(word string, f *fields, depth int) Guard {
	var of []Guard
	for i, raw := range f.list("of", true) {
		of = append(of, d.guard(raw, f.at.item("/of", i), depth+1))
	}
	switch {
	case len(of) == 0:
		d.fail(f.at.to("/of"), CodeMalformed, "empty")
	case word == "and":
		return And{Of: of}
	case word == "or":
		return Or{Of: of}
	case len(of) == 1:
		return Not{Of: of[0]}
	default:
		d.fail(f.at.to("/of"), CodeMalformed, "not takes exactly one")
	}
	return nil
}
