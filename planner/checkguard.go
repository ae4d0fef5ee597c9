package planner

import (
	"bytes"
	"encoding/json"
	"math/big"
	"slices"

	"github.com/isolategpt/isolategpt/isc"
)

// guard checks a guard, and says whether it holds where that is known already.
func (k *checker) guard(g Guard, at path) (holds, known bool) {
	switch g := g.(type) {
	case Compare:
		return k.comparison(g, at)
	case Present:
		k.reference(g.Ref, at.to("/a"))
	case And:
		return k.all(g.Of, at, true)
	case Or:
		return k.all(g.Of, at, false)
	case Not:
		holds, known = k.guard(g.Of, at.item("/of", 0))
		return !holds, known
	default:
		k.fail(at, CodeMalformed, "there is no guard")
	}
	return false, false
}

// all is a conjunction (unit true) or disjunction (unit false).
func (k *checker) all(of []Guard, at path, unit bool) (holds, known bool) {
	if len(of) == 0 {
		k.fail(at.to("/of"), CodeMalformed, "empty")
	}
	decided, open := false, false
	for i, g := range of {
		h, kn := k.guard(g, at.item("/of", i))
		decided = decided || kn && h != unit
		open = open || !kn
	}
	if decided {
		return !unit, true
	}
	return unit, !open
}

func (k *checker) comparison(c Compare, at path) (holds, known bool) {
	a := k.operand(c.A, at.to("/a"))
	if c.Op == IN {
		return k.membership(a, c.B, at)
	}
	b := k.operand(c.B, at.to("/b"))
	if c.Op == 0 || c.Op > IN {
		k.fail(at.to("/op"), CodeMalformed, "no such operator")
		return false, false
	}
	if !k.comparableTo(a, b, c.Op, at) {
		return false, false
	}
	la, okA := c.A.(Literal)
	lb, okB := c.B.(Literal)
	switch {
	case okA && okB:
		return compareLiterals(la.JSON, lb.JSON, c.Op), true
	case c.Op == EQ && okB && excludes(a, lb), c.Op == EQ && okA && excludes(b, la):
		return false, true
	}
	return false, false
}

// operand checks one side of a comparison: what it sees must be closed.
func (k *checker) operand(v Value, at path) typ {
	switch v.(type) {
	case Literal, Ref, Memory, Item:
	default:
		k.fail(at, CodeNoOrder, "only single values can be compared")
		return anything()
	}
	before := len(k.problems)
	t := k.value(v, at, 0)
	if len(k.problems) == before && !t.comparable() {
		k.fail(at, CodeFreeText, "it is free text or no single value: a comparison needs a boolean, number, date or a choice of few")
		return anything()
	}
	return t
}

func (k *checker) membership(a typ, b Value, at path) (holds, known bool) {
	list, ok := b.(Array)
	if !ok || len(list) == 0 {
		k.fail(at.to("/b"), CodeNoOrder, "in needs an array of literals")
		return false, false
	}
	for i, e := range list {
		where := at.item("/b", i)
		if _, ok := e.(Literal); !ok {
			k.fail(where, CodeNoOrder, "in needs literals")
			continue
		}
		k.comparableTo(a, k.operand(e, where), EQ, where)
	}
	return false, false
}

// comparableTo says whether the two sides can be compared at all.
func (k *checker) comparableTo(a, b typ, op Op, at path) bool {
	if a.any || b.any {
		return false // a problem already, or unknown
	}
	if !fits(a, b) && !fits(b, a) {
		k.fail(at, CodeTypeMismatch, "%s is never %s", describe(a), describe(b))
		return false
	}
	if op == EQ || op == NE {
		return true
	}
	kind, okA := a.ordered()
	other, okB := b.ordered()
	if literalDate(b) {
		other, okB = "date", true
	}
	if literalDate(a) {
		kind, okA = "date", true
	}
	if !okA || !okB || kind != other {
		k.fail(at, CodeNoOrder, "only numbers and dates have an order")
		return false
	}
	return true
}

// literalDate says whether a literal reads as a date or time, which sort as
// they are written.
func literalDate(t typ) bool {
	return len(t.enum) == 1 && t.types == isc.TypeString && len(t.enum[0]) > 5 && bytes.ContainsAny(t.enum[0][1:2], "0123456789")
}

// excludes says whether a choice of few does not have the literal.
func excludes(t typ, l Literal) bool {
	return len(t.enum) > 0 && !slices.ContainsFunc(t.enum, func(e json.RawMessage) bool { return sameJSON(e, l.JSON) })
}

// compareLiterals compares what the plan itself says.
func compareLiterals(a, b json.RawMessage, op Op) bool {
	if scalarType(a) == isc.TypeNull || scalarType(b) == isc.TypeNull {
		return false // a comparison with an absent value is false
	}
	order := bytes.Compare(a, b)
	if scalarType(a)&numbers != 0 && scalarType(b)&numbers != 0 {
		x, okX := number(a)
		y, okY := number(b)
		if okX && okY {
			order = x.Cmp(y)
		}
	}
	switch op {
	case EQ:
		return order == 0
	case NE:
		return order != 0
	case LT:
		return order < 0
	case LE:
		return order <= 0
	case GT:
		return order > 0
	case GE:
		return order >= 0
	}
	return false
}

// number reads a number of a plan. Decoding has bounded its digits and
// exponent.
func number(raw json.RawMessage) (*big.Float, bool) {
	f, _, err := big.ParseFloat(string(raw), 10, 256, big.ToNearestEven)
	return f, err == nil
}

// question checks what the user will be asked: no app's free text may be in
// it.
func (k *checker) question(v Value) {
	switch q := v.(type) {
	case Template:
		if t := k.template(q, root("/question")); !t.scalar {
			k.fail(root("/question"), CodeFreeText, "a question to the user may hold only closed values")
		}
	case Literal:
		if scalarType(q.JSON) != isc.TypeString {
			k.fail(root("/question"), CodeBadTemplate, "a question is a string or a template")
		}
	default:
		k.fail(root("/question"), CodeBadTemplate, "a question is a string or a template")
	}
}
