package hub

import (
	"bytes"
	"encoding/json"
	"math/big"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/planner"
)

// holds evaluates a guard, and gives the label of what it looked at: control by
// data is data. A comparison with an absent value is false, and so is one of
// values that cannot be compared.
func (s *scope) holds(g planner.Guard) (bool, isc.Label) {
	switch g := g.(type) {
	case nil:
		return true, isc.Label{}
	case planner.Compare:
		a, errA := s.resolve(g.A)
		b, errB := s.resolve(g.B)
		label := a.label.Join(b.label)
		return errA == nil && errB == nil && compare(g.Op, a.json, b.json), label
	case planner.Present:
		got, err := s.ref(g.Ref)
		return err == nil && !bytes.Equal(got.json, []byte("null")), s.labelOf(g.Ref.Step)
	case planner.And:
		return s.all(g.Of, true)
	case planner.Or:
		holds, label := s.all(g.Of, false)
		return !holds, label
	case planner.Not:
		holds, label := s.holds(g.Of)
		return !holds, label
	default:
		return false, isc.Label{}
	}
}

// all says whether every guard holds, or, with want false, whether none does.
// All are looked at, so that the label does not depend on the order.
func (s *scope) all(of []planner.Guard, want bool) (bool, isc.Label) {
	result := true
	var label isc.Label
	for i, g := range of {
		holds, l := s.holds(g)
		if label = label.Join(l); i == 0 {
			label = l
		}
		result = result && holds == want
	}
	return result, label
}

func (s *scope) labelOf(step string) isc.Label {
	if r := s.results[step]; r != nil {
		return r.label
	}
	return isc.HubLabel()
}

// compare compares two canonical values. Numbers compare as numbers, strings
// (dates among them) byte by byte; in asks for membership.
func compare(op planner.Op, a, b json.RawMessage) bool {
	switch op {
	case planner.EQ:
		return equal(a, b)
	case planner.NE:
		return !equal(a, b)
	case planner.IN:
		elements, err := elementsOf(b)
		if err != nil {
			return false
		}
		for _, e := range elements {
			if equal(a, e) {
				return true
			}
		}
		return false
	}
	order, ok := ordered(a, b)
	if !ok {
		return false
	}
	switch op {
	case planner.LT:
		return order < 0
	case planner.LE:
		return order <= 0
	case planner.GT:
		return order > 0
	case planner.GE:
		return order >= 0
	default:
		return false
	}
}

func equal(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, okX := number(a)
	y, okY := number(b)
	return okX && okY && x.Cmp(y) == 0
}

// ordered compares two numbers or two strings.
func ordered(a, b json.RawMessage) (int, bool) {
	x, okX := number(a)
	y, okY := number(b)
	if okX && okY {
		return x.Cmp(y), true
	}
	var s, t string
	if json.Unmarshal(a, &s) == nil && json.Unmarshal(b, &t) == nil && a[0] == '"' && b[0] == '"' {
		return bytes.Compare([]byte(s), []byte(t)), true
	}
	return 0, false
}

// number reads a canonical number exactly. Canonical values have bounded
// exponents.
func number(v json.RawMessage) (*big.Rat, bool) {
	if len(v) == 0 || v[0] != '-' && (v[0] < '0' || v[0] > '9') {
		return nil, false
	}
	return new(big.Rat).SetString(string(v))
}
