package llm

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// kinds is a set of JSON types. The empty set stands for any.
type kinds uint8

const (
	kindObject kinds = 1 << iota
	kindArray
	kindString
	kindNumber
	kindInteger
	kindBoolean
	kindNull
)

var kindWords = []string{"object", "array", "string", "number", "integer", "boolean", "null"}

func kindOf(word string) kinds {
	if i := slices.Index(kindWords, word); i >= 0 {
		return 1 << i
	}
	return 0
}

// shape is what a projection says about a value.
type shape struct {
	kinds       kinds
	description *jsonNode
	choices     []*jsonNode // enum, or the one const
	isConst     bool
	props       []prop
	open        bool // an object with any members
	items       *shape
	minItems    *jsonNode
	maxItems    *jsonNode
	anyOf       []*shape
	ref         string // a name in defs; then nothing else is set
}

type prop struct {
	name     string
	raw      []byte // the name as it was written
	shape    *shape
	optional bool
}

func (s *shape) plainObject() bool {
	return s.kinds == kindObject && len(s.choices) == 0 && len(s.anyOf) == 0 && !s.open
}

// shaper makes shapes of the parts of one schema.
type shaper struct {
	doc   *jsonNode
	left  int               // how many more shapes may be made
	names map[string]string // pointer of a $ref to its name in defs
	order []string          // the pointers, in the order in which they were met
	defs  map[string]*shape
}

// finish makes the shapes that references lead to.
func (b *shaper) finish() error {
	for done := 0; done < len(b.order); { // it grows while shapes are made
		pointer := b.order[done]
		done++
		target, err := b.lookup(pointer)
		if err != nil {
			return err
		}
		s, err := b.shape(target, 0)
		if err != nil {
			return err
		}
		b.defs[b.names[pointer]] = s
	}
	for _, name := range b.names {
		for hops, s := 0, b.defs[name]; s.ref != ""; hops, s = hops+1, b.defs[s.ref] {
			if hops > len(b.names) {
				return errors.New("a $ref refers to itself without end")
			}
		}
	}
	return nil
}

func (b *shaper) shape(n *jsonNode, depth int) (*shape, error) {
	if b.left--; b.left < 0 || depth > maxDepth {
		return nil, errors.New("the schema grows too large when its parts are put together")
	}
	if n.kind == 't' {
		if string(n.raw) == "false" {
			return nil, errors.New("a part of the schema allows nothing")
		}
		return &shape{}, nil
	}
	if n.kind != '{' {
		return nil, errors.New("a part of the schema is neither an object nor a boolean")
	}
	if ref := n.get("$ref"); ref != nil {
		return b.reference(ref.text())
	}
	n, err := b.flatten(n, depth)
	if err != nil {
		return nil, err
	}
	if branches := branchesOf(n); len(branches) > 0 {
		return b.union(n, branches, depth)
	}
	return b.single(n, depth)
}

func (b *shaper) reference(pointer string) (*shape, error) {
	name, ok := b.names[pointer]
	if !ok {
		name = "d" + strconv.Itoa(len(b.order))
		b.names[pointer] = name
		b.order = append(b.order, pointer)
	}
	return &shape{ref: name}, nil
}

func (b *shaper) lookup(pointer string) (*jsonNode, error) {
	rest, ok := strings.CutPrefix(pointer, "#")
	if !ok || (rest != "" && rest[0] != '/') {
		return nil, fmt.Errorf("$ref %.80q does not point into the schema", pointer)
	}
	n := b.doc
	for _, part := range strings.Split(rest, "/")[1:] {
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		next := n.get(part)
		if i, err := strconv.Atoi(part); err == nil && n.kind == '[' && i >= 0 && i < len(n.elems) {
			next = n.elems[i]
		}
		if next == nil {
			return nil, fmt.Errorf("$ref %.80q points to nothing", pointer)
		}
		n = next
	}
	return n, nil
}

// single is a schema without alternatives.
func (b *shaper) single(n *jsonNode, depth int) (*shape, error) {
	s := &shape{}
	if d := n.get("description"); d != nil && d.kind == '"' {
		s.description = d
	}
	if c := n.get("const"); c != nil {
		s.choices, s.isConst = []*jsonNode{c}, true
	} else if e := n.get("enum"); e != nil && e.kind == '[' {
		if len(e.elems) == 0 {
			return nil, errors.New("an enum allows nothing")
		}
		s.choices = e.elems
	}
	s.kinds = declaredKinds(n)
	if len(s.choices) > 0 {
		s.kinds = kindsOf(s.choices)
		return s, nil
	}
	if several(s.kinds) && s.kinds&(kindObject|kindArray) != 0 {
		return b.split(n, s, depth)
	}
	switch s.kinds {
	case kindObject:
		return s, b.object(s, n, depth)
	case kindArray:
		return s, b.array(s, n, depth)
	}
	return s, nil
}

// split makes alternatives of a list of types that has an object or an array.
func (b *shaper) split(n *jsonNode, s *shape, depth int) (*shape, error) {
	u := &shape{description: s.description}
	for i := range kindWords {
		k := kinds(1) << i
		if s.kinds&k == 0 {
			continue
		}
		one := &shape{kinds: k}
		var err error
		switch k {
		case kindObject:
			err = b.object(one, n, depth)
		case kindArray:
			err = b.array(one, n, depth)
		}
		if err != nil {
			return nil, err
		}
		u.anyOf = append(u.anyOf, one)
	}
	return u, nil
}

func (b *shaper) object(s *shape, n *jsonNode, depth int) error {
	required := map[string]bool{}
	if r := n.get("required"); r != nil {
		for _, e := range r.elems {
			required[e.text()] = true
		}
	}
	props := n.get("properties")
	if props == nil || len(props.members) == 0 {
		a := n.get("additionalProperties")
		s.open = a == nil || string(a.raw) != "false"
		return nil
	}
	for _, m := range props.members {
		if m.value.kind == 't' && string(m.value.raw) == "false" && !required[m.key] {
			continue // may not be there
		}
		sub, err := b.shape(m.value, depth+1)
		if err != nil {
			return err
		}
		s.props = append(s.props, prop{name: m.key, raw: m.raw, shape: sub, optional: !required[m.key]})
	}
	return nil
}

func (b *shaper) array(s *shape, n *jsonNode, depth int) (err error) {
	s.minItems, s.maxItems = bound(n.get("minItems")), bound(n.get("maxItems"))
	items := n.get("items")
	tuple := n.get("prefixItems")
	if items != nil && items.kind == '[' {
		tuple, items = items, nil
	}
	switch {
	case tuple != nil && len(tuple.elems) > 0:
		s.items = &shape{}
		for _, e := range tuple.elems {
			one, err := b.shape(e, depth+1)
			if err != nil {
				return err
			}
			s.items.anyOf = append(s.items.anyOf, one)
		}
	case items != nil && string(items.raw) != "false":
		s.items, err = b.shape(items, depth+1)
	default:
		s.items = &shape{}
	}
	return err
}

// bound is n if it is a small natural number.
func bound(n *jsonNode) *jsonNode {
	if n == nil || n.kind != '0' {
		return nil
	}
	if _, err := strconv.ParseUint(string(n.raw), 10, 31); err != nil {
		return nil
	}
	return n
}
