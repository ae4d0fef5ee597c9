package isc

import (
	"encoding/json"
	"slices"
	"strings"
)

// maxClosedValues is the longest enumeration that counts as closed.
const maxClosedValues = 64

// maxClosedWork bounds the search of one format, in schemas looked at. What is
// left then counts as open.
const maxClosedWork = 1 << 16

// closing searches for the places where a value can hold free text.
type closing struct {
	work *int // what is left of it
	open []string
	path []string // keys of the conjunctions above: recursion ends there
}

func openLeaves(root *node) []string {
	work := maxClosedWork
	return openIn(conj{root}, &work)
}

func openIn(c conj, work *int) []string {
	s := &closing{work: work}
	s.visit(spread(c), "")
	slices.Sort(s.open)
	return slices.Compact(s.open)
}

func (s *closing) add(at string) { s.open = append(s.open, at) }

// visit adds the open places at and under at.
func (s *closing) visit(c conj, at string) {
	if *s.work -= 1 + len(c); *s.work < 0 {
		s.add(at)
		return
	}
	if slices.ContainsFunc(c, func(n *node) bool { return n.role.IsTarget() }) {
		s.add(at)
		return
	}
	t := c.typesOf()
	if list, ok := c.values(); ok {
		if !closedValues(list) {
			s.add(at)
		}
		return
	}
	key := place{alts: []conj{c}}.key()
	if t == 0 || slices.Contains(s.path, key) {
		return
	}
	s.path = append(s.path, key)
	defer func() { s.path = s.path[:len(s.path)-1] }()
	before := len(s.open)
	s.plain(c, t, at)
	if len(s.open) > before {
		s.choices(c, at, before)
	}
}

// choices replaces what was found open without the branches of c's choices by
// what is open in the branches of the first of them that helps.
func (s *closing) choices(c conj, at string, before int) {
	plain := slices.Clone(s.open[before:])
	for _, n := range c {
		for _, group := range n.groups {
			if c.hasOneOf(group) {
				continue
			}
			s.open = s.open[:before]
			for _, b := range group {
				s.visit(spread(append(slices.Clone(c), b)), at)
			}
			if len(s.open) == before {
				return
			}
			plain = slices.Clone(s.open[before:])
		}
	}
	s.open = append(s.open[:before], plain...)
}

func (s *closing) plain(c conj, t Types, at string) {
	number := t.Has(TypeNumber|TypeInteger) && !c.boundsNumbers()
	text := t.Has(TypeString) && !c.closesStrings()
	if number || text {
		s.add(at)
	}
	if t.Has(TypeArray) {
		s.array(c, at)
	}
	if t.Has(TypeObject) {
		s.object(c, at)
	}
}

func (c conj) boundsNumbers() bool {
	var lower, upper bool
	for _, n := range c {
		lower, upper = lower || n.lower, upper || n.upper
	}
	return lower && upper
}

func (c conj) closesStrings() bool {
	maxLength, isURL := -1, false
	for _, n := range c {
		if n.maxLength >= 0 && (maxLength < 0 || n.maxLength < maxLength) {
			maxLength = n.maxLength
		}
		isURL = isURL || urlFormats[n.format]
	}
	if maxLength == 0 {
		return true
	}
	return slices.ContainsFunc(c, func(n *node) bool {
		return closedFormats[n.format] || n.pattern != "" && closesString(n.pattern, maxLength, isURL)
	})
}

func closedValues(list []any) bool {
	if len(list) > maxClosedValues {
		return false
	}
	for _, v := range list {
		switch v := v.(type) {
		case nil, bool, json.Number:
		case string:
			if !isClosedWord(v) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// isClosedWord says whether an enum's value is a word or a few, too short for an
// instruction: at most 64 bytes in at most three words.
func isClosedWord(s string) bool {
	if len(s) > closedLength || strings.Count(s, " ") > 2 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		isWord := isNameByte(c) && c != '.' || c >= 'A' && c <= 'Z' || c == ' '
		if !isWord {
			return false
		}
	}
	return true
}

// isClosedName says whether the name of a member is a word that carries no
// sentence.
func isClosedName(s string) bool { return isClosedWord(s) && !slices.Contains([]byte(s), ' ') }

func (s *closing) array(c conj, at string) {
	at = joinPointer(at, "*")
	for i := range c.positions() + 1 {
		if c.endsBefore(i) {
			return
		}
		var elem conj
		for _, n := range c {
			switch {
			case i < len(n.prefix):
				elem = append(elem, n.prefix[i])
			case n.items != nil:
				elem = append(elem, n.items)
			case n.unevaluatedItems != nil && n.contains == nil && n.isPlainObject():
				elem = append(elem, n.unevaluatedItems)
			}
		}
		s.visit(spread(elem), at)
	}
}

func (c conj) positions() int {
	named := 0
	for _, n := range c {
		named = max(named, len(n.prefix))
	}
	return named
}

func (s *closing) object(c conj, at string) {
	if slices.ContainsFunc(c, func(n *node) bool { return n.names != nil && n.names.never }) {
		return // only the empty object
	}
	shut, ok := c.shutter()
	if !ok {
		s.add(joinPointer(at, "*"))
	}
	names := map[string]bool{}
	for _, n := range c {
		for name := range n.properties {
			if !ok || shut.properties[name] != nil || shut.matches(name) {
				names[name] = true
			}
		}
	}
	for _, name := range sortedKeys(names) {
		below, _ := c.memberBy(name)
		if !below.isPossible() {
			continue
		}
		if !isClosedName(name) {
			s.add(joinPointer(at, name))
		}
		s.visit(below, joinPointer(at, name))
	}
	if ok {
		s.described(shut, at)
	}
}

// described looks at the members that only a pattern names.
func (s *closing) described(shut *node, at string) {
	for _, p := range shut.patterns {
		if !closesString(p.re.String(), -1, false) {
			s.add(joinPointer(at, "*"))
		}
		s.visit(spread(conj{p.node}), joinPointer(at, "*"))
	}
}

func (n *node) matches(name string) bool {
	return slices.ContainsFunc(n.patterns, func(p patternNode) bool { return p.re.MatchString(name) })
}

// shutter is a schema of c that forbids members which it does not itself name.
func (c conj) shutter() (*node, bool) {
	for _, n := range c {
		closedBy := n.additional != nil && n.additional.never ||
			n.unevaluated != nil && n.unevaluated.never && n.isPlainObject()
		if closedBy {
			return n, true
		}
	}
	return nil, false
}
