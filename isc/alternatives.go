package isc

import (
	"encoding/json"
	"slices"
	"strings"
)

// conj is a list of schemas that one value must all fit.
type conj []*node

// maxConjuncts bounds a conjunction; leaving schemas out only makes it more open.
const maxConjuncts = 128

// spread adds all schemas that references and allOf bring in.
func spread(c conj) conj {
	var out conj
	var add func(n *node)
	add = func(n *node) {
		if len(out) >= maxConjuncts || slices.Contains(out, n) {
			return
		}
		out = append(out, n)
		for _, next := range n.all {
			add(next)
		}
	}
	for _, n := range c {
		add(n)
	}
	return out
}

// alternatives are the conjunctions that a value may have to fit, one for each
// choice of branches. Past maxAlternatives the choices are not told apart: the
// branches are left out, which only makes the place more open.
func alternatives(c conj) []conj {
	done, todo := []conj{}, []conj{spread(c)}
	for len(todo) > 0 {
		var next []conj
		for _, one := range todo {
			more := branch(one)
			if more == nil {
				done = append(done, one)
				continue
			}
			next = append(next, more...)
		}
		if len(done)+len(next) > maxAlternatives {
			return []conj{spread(c)}
		}
		todo = next
	}
	return done
}

// branch replaces c by one conjunction for each branch of the first choice in it
// that was not made yet; nil if there is none.
func branch(c conj) []conj {
	for _, n := range c {
		for _, group := range n.groups {
			if c.hasOneOf(group) {
				continue
			}
			var out []conj
			for _, b := range group {
				out = append(out, spread(append(slices.Clone(c), b)))
			}
			return out
		}
	}
	return nil
}

// typesOf is what c leaves of the types.
func (c conj) typesOf() Types {
	t := anyType
	for _, n := range c {
		switch {
		case n.never:
			return 0
		case n.types != 0:
			t &= n.types
		}
	}
	if listed, ok := c.values(); ok {
		t &= typesOfValues(listed)
	}
	return t
}

func typesOfValues(list []any) Types {
	var t Types
	for _, v := range list {
		switch v := v.(type) {
		case nil:
			t |= TypeNull
		case bool:
			t |= TypeBoolean
		case json.Number:
			t |= TypeNumber
			if !strings.ContainsAny(string(v), ".eE") {
				t |= TypeInteger
			}
		case string:
			t |= TypeString
		case []any:
			t |= TypeArray
		default:
			t |= TypeObject
		}
	}
	return t
}

// values is the shortest list of values that c admits.
func (c conj) values() (list []any, ok bool) {
	for _, n := range c {
		if n.hasValues && (!ok || len(n.values) < len(list)) {
			list, ok = n.values, true
		}
	}
	return list, ok
}

func (c conj) requires(name string) bool {
	return slices.ContainsFunc(c, func(n *node) bool { return slices.Contains(n.required, name) })
}

func (c conj) format() string {
	for _, n := range c {
		if n.format != "" {
			return n.format
		}
	}
	return ""
}

// hasOneOf says whether the choice of a group was made already.
func (c conj) hasOneOf(group []*node) bool {
	return slices.ContainsFunc(group, func(b *node) bool { return slices.Contains(c, b) })
}
