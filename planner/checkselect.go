package planner

import (
	"slices"

	"github.com/isolategpt/isolategpt/isc"
)

func (k *checker) where(w Where) typ {
	elem, ok := k.selection(w.From)
	field := typ{}
	if ok {
		field, ok = k.field(elem, w.Field)
	}
	if w.Op == IN {
		if ok {
			k.membership(field, w.Value, root(""))
		}
		return arrayOf(elem)
	}
	if w.Op == 0 || w.Op > IN {
		k.fail(root("/op"), CodeMalformed, "no such operator")
	}
	value := k.operand(w.Value, root("/value"))
	if ok {
		k.comparableTo(field, value, w.Op, root("/value"))
	}
	return arrayOf(elem)
}

func (k *checker) best(b Best) typ {
	elem, ok := k.selection(b.From)
	if !ok {
		return elem
	}
	field, ok := k.field(elem, b.Field)
	if !ok {
		return elem
	}
	kind, ordered := field.ordered()
	switch b.Most {
	case Largest, Smallest:
		ordered = ordered && kind == "number"
	case Latest, Earliest:
		ordered = ordered && kind == "date"
	default:
		k.fail(root("/most"), CodeMalformed, "no such extreme")
		return elem
	}
	if !ordered {
		k.fail(root("/field"), CodeNoOrder, "%s has no %s", describe(field), b.Most)
	}
	return elem
}

// selection is the type of the elements selected from.
func (k *checker) selection(from Ref) (typ, bool) {
	before := len(k.problems)
	t := k.reference(from, root("/from"))
	if len(k.problems) > before {
		return anything(), false
	}
	elem, ok := t.child("*")
	if !ok || !t.any && t.types&isc.TypeArray == 0 {
		k.fail(root("/from"), CodePickNoArray, "what it refers to is no array")
		return anything(), false
	}
	return elem, true
}

// field is the type of the field that elements are compared by.
func (k *checker) field(elem typ, pointer string) (typ, bool) {
	parts, good := split(pointer)
	if !good || slices.ContainsFunc(parts, isNumber) || slices.Contains(parts, "*") {
		k.fail(root("/field"), CodeBadPointer, "%q is no pointer to one field of an element", short(pointer))
		return typ{}, false
	}
	t, _, ok := walk(elem, parts)
	if !ok {
		k.fail(root("/field"), CodeBadPointer, "the elements have no %q", short(pointer))
		return typ{}, false
	}
	if !t.comparable() {
		k.fail(root("/field"), CodeFreeText, "it is free text or no single value: a comparison needs a boolean, number, date or a choice of few")
		return typ{}, false
	}
	return t, true
}
