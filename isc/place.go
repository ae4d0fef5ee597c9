package isc

import "slices"

// child is the place that one token leads to. It is there if one alternative
// knows it; then the others have a say in what it may hold.
func (p place) child(token string) (place, bool) {
	next := place{pointer: joinPointer(p.pointer, token), name: p.name, role: p.role, required: token != "*"}
	if token != "*" {
		next.name = token
	}
	known := false
	for _, c := range p.alts {
		below, named := c.child(token)
		known = known || named
		for _, b := range below {
			next.alts = append(next.alts, alternatives(b)...)
		}
		if c.typesOf().Has(TypeObject) && !c.requires(token) {
			next.required = false
		}
	}
	if !known || len(next.alts) == 0 {
		return place{}, false
	}
	if len(next.alts) > maxAlternatives {
		next.alts = []conj{nil} // anything
	}
	return next.declare(), true
}

// tokens are the names under p that its schemas know, and "*" last.
func (p place) tokens() []string {
	seen := map[string]bool{}
	star := false
	for _, c := range p.alts {
		for _, n := range c {
			for _, m := range append([]*node{n}, n.maybe...) {
				for name := range m.properties {
					seen[name] = true
				}
			}
			star = star || n.additional != nil && !n.additional.never || len(n.patterns) > 0 || n.items != nil || len(n.prefix) > 0
		}
	}
	names := sortedKeys(seen)
	if star {
		names = append(names, "*")
	}
	return names
}

// child is what may stand under token where c holds: one conjunction for each
// way to get there, none if there is no way. known says whether c speaks of it.
func (c conj) child(token string) (below []conj, known bool) {
	t := c.typesOf()
	if t.Has(TypeArray) && token == "*" {
		below = append(below, c.elements()...)
		known = len(below) > 0
	}
	if t.Has(TypeObject) {
		members, named := c.member(token)
		below, known = append(below, members...), known || named && len(members) > 0
	}
	return below, known
}

// elements are the alternatives for an element: one for each named position, and
// one for the rest.
func (c conj) elements() []conj {
	named := 0
	for _, n := range c {
		named = max(named, len(n.prefix))
	}
	var out []conj
	for i := range named + 1 {
		var at conj
		for _, n := range c {
			switch {
			case i < len(n.prefix):
				at = append(at, n.prefix[i])
			case n.items != nil:
				at = append(at, n.items)
			}
		}
		if at = spread(at); at.isPossible() && !c.endsBefore(i) {
			out = append(out, at)
		}
	}
	return out
}

// endsBefore says whether no array can have an element i.
func (c conj) endsBefore(i int) bool {
	return slices.ContainsFunc(c, func(n *node) bool { return n.maxItems >= 0 && i >= n.maxItems })
}

func (c conj) isPossible() bool {
	return !slices.ContainsFunc(c, func(n *node) bool { return n.never })
}

// member is what may stand under a name, or for "*" under any.
func (c conj) member(token string) (below []conj, known bool) {
	if token == "*" {
		return c.anyMember()
	}
	plain, known := c.memberBy(token)
	if !plain.isPossible() {
		return nil, false
	}
	below = append(below, plain)
	// Whether a conditional schema applies is not known: it only adds names.
	for _, n := range c {
		for _, m := range n.maybe {
			_, more := spread(append(slices.Clone(c), m)).memberBy(token)
			known = known || more
		}
	}
	return below, known || c.namesNothing()
}

func (c conj) anyMember() (below []conj, known bool) {
	names := map[string]bool{}
	for _, n := range c {
		for name := range n.properties {
			names[name] = true
		}
	}
	for _, name := range sortedKeys(names) {
		if one, _ := c.memberBy(name); one.isPossible() {
			below = append(below, one)
		}
	}
	if rest, _ := c.memberBy("*"); rest.isPossible() {
		below = append(below, rest)
	}
	return append(below, c.byPattern()...), true
}

// memberBy collects the schemas for a member, and says whether any names it.
func (c conj) memberBy(token string) (below conj, named bool) {
	for _, n := range c {
		schemas, byName := n.schemasFor(token)
		below = append(below, schemas...)
		named = named || byName
	}
	return spread(below), named
}

func (n *node) schemasFor(token string) (schemas conj, named bool) {
	if token != "*" {
		if s, ok := n.properties[token]; ok {
			schemas = append(schemas, s)
		}
		for _, p := range n.patterns {
			if p.re.MatchString(token) {
				schemas = append(schemas, p.node)
			}
		}
		if len(schemas) > 0 {
			return schemas, true
		}
	}
	if n.additional != nil {
		return conj{n.additional}, true
	}
	if n.unevaluated != nil && n.unevaluated.never && n.isPlainObject() {
		return conj{n.unevaluated}, true
	}
	return nil, false
}

// byPattern are the schemas of members whose names are only described.
func (c conj) byPattern() []conj {
	var out []conj
	for _, n := range c {
		for _, p := range n.patterns {
			out = append(out, spread(conj{p.node}))
		}
	}
	return out
}

// namesNothing says whether c tells nothing at all of the members.
func (c conj) namesNothing() bool {
	return !slices.ContainsFunc(c, func(n *node) bool {
		return len(n.properties) > 0 || len(n.patterns) > 0 || n.additional != nil || n.unevaluated != nil
	})
}

// isPlainObject says whether nothing beside properties and patterns of n itself
// can evaluate a member.
func (n *node) isPlainObject() bool {
	return len(n.all) == 0 && len(n.groups) == 0 && len(n.maybe) == 0 && len(n.inPlace) == 0
}
