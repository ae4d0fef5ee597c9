package isc

import (
	"bytes"
	"slices"
)

// member is one member of an object that is being read. Its canonical bytes, key
// and value, are out[start:end].
type member struct {
	key        token
	fold       uint64
	value      any
	start, end int
}

func (d *decoder) object(depth int) (any, error) {
	d.out = append(d.out, '{')
	base, start := len(d.members), len(d.out)
	if d.members == nil {
		d.members = make([]member, 0, 16)
	}
	d.space()
	if d.pos < len(d.in) && d.in[d.pos] == '}' {
		return d.endObject(base, start)
	}
	var seen map[string]struct{}
	for {
		m, err := d.member(depth)
		if err != nil {
			return nil, err
		}
		if seen, err = d.unique(base, m, seen); err != nil {
			return nil, err
		}
		d.members = append(d.members, m)
		more, err := d.next('}')
		if err != nil {
			return nil, err
		}
		if !more {
			return d.endObject(base, start)
		}
		d.out = append(d.out, ',')
	}
}

func (d *decoder) member(depth int) (member, error) {
	d.space()
	if d.pos >= len(d.in) || d.in[d.pos] != '"' {
		return member{}, d.fail("no key where one must be")
	}
	if err := d.count(); err != nil {
		return member{}, err
	}
	m := member{start: len(d.out)}
	var err error
	if m.key, err = d.string(); err != nil {
		return m, err
	}
	m.fold = foldHash(m.key.raw)
	d.space()
	if d.pos >= len(d.in) || d.in[d.pos] != ':' {
		return m, d.fail("no colon after a key")
	}
	d.pos++
	d.out = append(d.out, ':')
	m.value, err = d.value(depth)
	m.end = len(d.out)
	return m, err
}

// manyMembers is where comparing each with each gives way to a map.
const manyMembers = 24

// unique refuses a key that another parser could take for one that is there
// already: the same, or the same but for case.
func (d *decoder) unique(base int, m member, seen map[string]struct{}) (map[string]struct{}, error) {
	there := d.members[base:]
	if len(there) < manyMembers {
		for i := range there {
			if there[i].fold == m.fold && bytes.EqualFold(there[i].key.raw, m.key.raw) {
				return nil, d.fail("a key twice in one object, or in two cases")
			}
		}
		return nil, nil
	}
	if seen == nil {
		seen = make(map[string]struct{}, 2*len(there))
		for i := range there {
			seen[folded(string(there[i].key.raw))] = struct{}{}
		}
	}
	key := folded(string(m.key.raw))
	if _, twice := seen[key]; twice {
		return nil, d.fail("a key twice in one object, or in two cases")
	}
	seen[key] = struct{}{}
	return seen, nil
}

func (d *decoder) endObject(base, start int) (any, error) {
	d.pos++
	there := d.members[base:]
	var tree any
	if d.build {
		m := make(map[string]any, len(there))
		for i := range there {
			m[d.textOf(there[i].key)] = there[i].value
		}
		tree = m
	}
	d.sortMembers(there, start)
	clear(there)
	d.members = d.members[:base]
	d.out = append(d.out, '}')
	return tree, nil
}

// sortMembers puts the bytes of the members, out[start:], in order of the keys.
func (d *decoder) sortMembers(there []member, start int) {
	byKey := func(a, b member) int { return bytes.Compare(a.key.raw, b.key.raw) }
	if slices.IsSortedFunc(there, byKey) {
		return
	}
	slices.SortFunc(there, byKey)
	d.scratch = append(d.scratch[:0], d.out[start:]...)
	d.out = d.out[:start]
	for i := range there {
		if i > 0 {
			d.out = append(d.out, ',')
		}
		d.out = append(d.out, d.scratch[there[i].start-start:there[i].end-start]...)
	}
}
