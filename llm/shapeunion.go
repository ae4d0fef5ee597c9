package llm

import "slices"

// branchesOf are the alternatives of a schema. Alternatives that only restrict
// (as "one of these two is required") are left to the check.
func branchesOf(n *jsonNode) []*jsonNode {
	for _, key := range []string{"anyOf", "oneOf"} {
		alt := n.get(key)
		if alt == nil || len(alt.elems) == 0 {
			continue
		}
		if slices.ContainsFunc(alt.elems, shapes) {
			return alt.elems
		}
	}
	return nil
}

// shapes says whether a schema says what a value looks like.
func shapes(n *jsonNode) bool {
	for _, key := range []string{"$ref", "type", "properties", "items", "enum", "const", "anyOf", "oneOf", "allOf"} {
		if n.get(key) != nil {
			return true
		}
	}
	return false
}

// union is a schema with alternatives. What stands beside them holds for each.
func (b *shaper) union(n *jsonNode, branches []*jsonNode, depth int) (*shape, error) {
	base := without(n, "anyOf", "oneOf", "description")
	u := &shape{}
	if d := n.get("description"); d != nil && d.kind == '"' {
		u.description = d
	}
	for _, br := range branches {
		if shapes(base) {
			var err error
			if br, err = b.resolve(br); err != nil {
				return nil, err
			}
			br = merge(base, br)
		}
		if string(br.raw) == "false" {
			continue
		}
		s, err := b.shape(br, depth+1)
		if err != nil {
			return nil, err
		}
		u.anyOf = append(u.anyOf, s)
	}
	if len(u.anyOf) == 1 && u.description == nil {
		return u.anyOf[0], nil
	}
	return u, nil
}

// flatten puts the parts of an allOf into one schema.
func (b *shaper) flatten(n *jsonNode, depth int) (*jsonNode, error) {
	all := n.get("allOf")
	if all == nil || depth > maxDepth {
		return n, nil
	}
	n = without(n, "allOf")
	for _, part := range all.elems {
		part, err := b.resolve(part)
		if err != nil {
			return nil, err
		}
		if part, err = b.flatten(part, depth+1); err != nil {
			return nil, err
		}
		if b.left -= len(part.members) + 1; b.left < 0 {
			break // shape reports it
		}
		n = merge(n, part)
	}
	return n, nil
}

// resolve follows references until something stands there.
func (b *shaper) resolve(n *jsonNode) (*jsonNode, error) {
	for range maxDepth {
		ref := n.get("$ref")
		if ref == nil {
			return n, nil
		}
		var err error
		if n, err = b.lookup(ref.text()); err != nil {
			return nil, err
		}
	}
	return without(n, "$ref"), nil
}

func without(n *jsonNode, keys ...string) *jsonNode {
	c := &jsonNode{kind: '{'}
	for _, m := range n.members {
		if !slices.Contains(keys, m.key) {
			c.members = append(c.members, m)
		}
	}
	return c
}

// merge adds what is only in add, and joins properties and required.
func merge(n, add *jsonNode) *jsonNode {
	c := &jsonNode{kind: '{', members: slices.Clone(n.members)}
	for _, m := range add.members {
		i := slices.IndexFunc(c.members, func(o jsonMember) bool { return o.key == m.key })
		switch {
		case i < 0:
			c.members = append(c.members, m)
		case m.key == "properties":
			c.members[i].value = merge(c.members[i].value, m.value)
		case m.key == "required":
			c.members[i].value = &jsonNode{kind: '[', elems: slices.Concat(c.members[i].value.elems, m.value.elems)}
		case m.key == "type" || m.key == "const" || m.key == "enum" || m.key == "items":
			c.members[i].value = m.value // the later part is the narrower one as a rule
		}
	}
	return c
}
