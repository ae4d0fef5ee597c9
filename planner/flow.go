package planner

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/isolategpt/isolategpt/isc"
)

// Flow says what goes into one argument of a call or one input of a delegate
// or decide.
type Flow struct {
	// To is the step that receives.
	To string
	// Argument is a JSON Pointer: in the request's body for a call ("/to"),
	// "/inputs/0" and so on otherwise.
	Argument string
	// Role is the argument's, for a call.
	Role isc.Role
	// Literal is what the plan says itself, if the whole value stands in it.
	Literal json.RawMessage
	// Memory are the keys of what is remembered of the user, sorted.
	Memory []string
	// From are the calls and delegates whose results it is made of, directly
	// or through decide, where and best steps, in the plan's order.
	From []string
	// Asked are the questions to the user whose answers it is made of.
	Asked []string
	// Control are the calls and delegates whose results decide whether, how
	// often or with which element it happens: guards and each.
	Control []string
}

func (f Flow) clone() Flow {
	f.Literal = slices.Clone(f.Literal)
	f.Memory, f.From = slices.Clone(f.Memory), slices.Clone(f.From)
	f.Asked, f.Control = slices.Clone(f.Asked), slices.Clone(f.Control)
	return f
}

// origin is what a value is made of: step positions and memory keys.
type origin struct {
	steps  set[int]
	asked  set[int]
	memory set[string]
}

func (o *origin) add(p origin) {
	o.steps.merge(p.steps)
	o.asked.merge(p.asked)
	o.memory.merge(p.memory)
}

// set is a small sorted set.
type set[T cmp.Ordered] []T

func (s *set[T]) add(v T) {
	if at, there := slices.BinarySearch(*s, v); !there {
		*s = slices.Insert(*s, at, v)
	}
}

func (s *set[T]) merge(other set[T]) {
	for _, v := range other {
		s.add(v)
	}
}

// memoryKeys collects the memory keys of a value.
func memoryKeys(v Value, into *set[string]) {
	switch v := v.(type) {
	case Memory:
		into.add(v.Key)
	case Template:
		for _, p := range v.Parts {
			memoryKeys(p, into)
		}
	case Array:
		for _, p := range v {
			memoryKeys(p, into)
		}
	case Object:
		for _, p := range v.Fields {
			memoryKeys(p, into)
		}
	default: // any other uses no memory
	}
}

// hasItem says whether a value uses the current element of an each.
func hasItem(v Value) bool {
	switch v := v.(type) {
	case Item:
		return true
	case Template:
		return slices.ContainsFunc(v.Parts, hasItem)
	case Array:
		return slices.ContainsFunc(v, hasItem)
	case Object:
		for _, p := range v.Fields {
			if hasItem(p) {
				return true
			}
		}
	default: // any other uses no element
	}
	return false
}
