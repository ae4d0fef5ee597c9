package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Restore turns what a model wrote under the projection into what the schema
// asks for: the wrapper of the root is taken off, and a null that stands for an
// absent optional property is dropped. Everything else stays as it was written,
// byte for byte but for the space between, so what does not fit is still there
// for the check to refuse. A reply without the wrapper is taken as it is.
//
// A value that is no single JSON value, has a key twice, or nests deeper than
// 64 is an error.
func (p *Projection) Restore(value json.RawMessage) (json.RawMessage, error) {
	n, err := parseJSON(value)
	if err != nil {
		return nil, fmt.Errorf("llm: restore: %w", err)
	}
	if p.wrapped && n.kind == '{' && len(n.members) == 1 && n.members[0].key == wrapKey {
		n = n.members[0].value
	}
	r := &restorer{defs: p.defs, steps: 1 << 20}
	n = r.restore(p.root, n)
	if r.steps <= 0 {
		return nil, errors.New("llm: restore: the schema is too ambiguous for the reply")
	}
	return n.append(nil), nil
}

// restorer bounds its work by steps: alternatives that refer to themselves
// could otherwise make it grow without end.
type restorer struct {
	defs  map[string]*shape
	steps int
}

// resolve follows references, of which no chain is endless.
func (r *restorer) resolve(s *shape) *shape {
	for s.ref != "" {
		s = r.defs[s.ref]
	}
	return s
}

func (r *restorer) restore(s *shape, n *jsonNode) *jsonNode {
	if r.steps--; r.steps <= 0 {
		return n
	}
	s = r.resolve(s)
	if len(s.anyOf) > 0 {
		for _, br := range s.anyOf {
			if r.fits(br, n, 0) {
				return r.restore(br, n)
			}
		}
		return n
	}
	switch {
	case n.kind == '{' && len(s.props) > 0:
		return r.object(s, n)
	case n.kind == '[' && s.items != nil:
		c := &jsonNode{kind: '['}
		for _, e := range n.elems {
			c.elems = append(c.elems, r.restore(s.items, e))
		}
		return c
	}
	return n
}

func (r *restorer) object(s *shape, n *jsonNode) *jsonNode {
	c := &jsonNode{kind: '{'}
	for _, m := range n.members {
		if p := s.prop(m.key); p != nil {
			if p.optional && m.value.kind == 'n' {
				continue
			}
			m.value = r.restore(p.shape, m.value)
		}
		c.members = append(c.members, m)
	}
	return c
}

func (s *shape) prop(name string) *prop {
	for i := range s.props {
		if s.props[i].name == name {
			return &s.props[i]
		}
	}
	return nil
}

// fits says whether n could be a value of s: enough to tell alternatives apart.
func (r *restorer) fits(s *shape, n *jsonNode, hops int) bool {
	if r.steps--; r.steps <= 0 || hops > maxDepth {
		return false
	}
	s = r.resolve(s)
	if len(s.anyOf) > 0 {
		for _, br := range s.anyOf {
			if r.fits(br, n, hops+1) {
				return true
			}
		}
		return false
	}
	if len(s.choices) > 0 {
		return isChoice(s.choices, n)
	}
	if !s.kinds.allows(valueKind(n)) {
		return false
	}
	switch {
	case n.kind == '{' && s.kinds == kindObject && !s.open:
		return r.objectFits(s, n)
	case n.kind == '[' && s.items != nil:
		for _, e := range n.elems {
			if !r.fits(s.items, e, 0) {
				return false
			}
		}
	}
	return true
}

func (r *restorer) objectFits(s *shape, n *jsonNode) bool {
	known := 0
	for i := range s.props {
		p := &s.props[i]
		v := n.get(p.name)
		if v != nil {
			known++
		}
		if p.optional && (v == nil || v.kind == 'n') {
			continue
		}
		if v == nil || !r.fits(p.shape, v, 0) {
			return false
		}
	}
	return known == len(n.members)
}

func isChoice(choices []*jsonNode, n *jsonNode) bool {
	for _, c := range choices {
		if c.kind != n.kind {
			continue
		}
		if c.kind == '"' && c.text() == n.text() || bytes.Equal(c.append(nil), n.append(nil)) {
			return true
		}
	}
	return false
}
