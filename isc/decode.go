package isc

import "sync"

// Limits bound what a decoder accepts, so that no message costs more than its
// size is worth. A zero field takes the value of [DefaultLimits].
type Limits struct {
	Size   int // bytes of the whole text
	Depth  int // arrays and objects within one another
	Nodes  int // values, and keys
	String int // bytes of one string or key, decoded
	Number int // bytes of one number
}

var defaultLimits = Limits{Size: 1 << 20, Depth: 64, Nodes: 1 << 16, String: 1 << 20, Number: 128}

// DefaultLimits are the limits of [Canonical], [Unmarshal] and [Format.Check]:
// 1 MiB, 64 levels, 65,536 values and keys, strings of 1 MiB, numbers of 128 bytes.
//
// Source: design, section 5; security scenario B8.
func DefaultLimits() Limits { return defaultLimits }

func (l Limits) filled() Limits {
	fill := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	fill(&l.Size, defaultLimits.Size)
	fill(&l.Depth, defaultLimits.Depth)
	fill(&l.Nodes, defaultLimits.Nodes)
	fill(&l.String, defaultLimits.String)
	fill(&l.Number, defaultLimits.Number)
	return l
}

// decoder reads one JSON text in one pass. It writes the canonical bytes as it
// goes and, if build is set, the value tree that the validator wants: nil, bool,
// string, json.Number, []any, map[string]any.
type decoder struct {
	in    []byte
	text  string // in, as a string, so that the tree's keys and values can share it
	pos   int
	out   []byte
	lim   Limits
	nodes int
	depth int // the deepest so far
	build bool
	// members and values are stacks shared by all open objects and arrays.
	members []member
	values  []any
	scratch []byte
}

// decoded is what a text holds: its canonical bytes, the number of its values and
// keys, how deep they lie, and, if asked for, its tree.
type decoded struct {
	tree         any
	canonical    []byte
	nodes, depth int
}

// decode reads raw strictly. The tree is nil unless build is set.
func decode(raw []byte, lim Limits, build bool) (decoded, error) {
	d, _ := decoders.Get().(*decoder)
	if d == nil {
		d = &decoder{}
	}
	defer d.free()
	d.in, d.lim, d.build = raw, lim.filled(), build
	if len(raw) > d.lim.Size {
		return decoded{}, d.fail("too large")
	}
	d.out = make([]byte, 0, len(raw)+8)
	if build {
		d.text = string(raw)
	}
	tree, err := d.document()
	if err != nil {
		return decoded{}, err
	}
	return decoded{tree, d.out, d.nodes, d.depth}, nil
}

// decoders keep the stacks of decoders that are done, and nothing of what they
// read.
var decoders sync.Pool

// maxPooled bounds a stack that is kept, in items.
const maxPooled = 256

func (d *decoder) free() {
	members, values, scratch := d.members, d.values, d.scratch
	if cap(members) > maxPooled || cap(values) > maxPooled || cap(scratch) > 16*maxPooled {
		return
	}
	clear(members[:cap(members)])
	clear(values[:cap(values)])
	clear(scratch[:cap(scratch)])
	*d = decoder{members: members[:0], values: values[:0], scratch: scratch[:0]}
	decoders.Put(d)
}

func (d *decoder) document() (any, error) {
	v, err := d.value(0)
	if err != nil {
		return nil, err
	}
	d.space()
	if d.pos < len(d.in) {
		return nil, d.fail("something follows the value")
	}
	return v, nil
}

func (d *decoder) fail(reason string) error { return &MalformedError{Offset: d.pos, Reason: reason} }

func (d *decoder) space() {
	for d.pos < len(d.in) {
		switch d.in[d.pos] {
		case ' ', '\t', '\n', '\r':
			d.pos++
		default:
			return
		}
	}
}

func (d *decoder) count() error {
	if d.nodes++; d.nodes > d.lim.Nodes {
		return d.fail("too many values")
	}
	return nil
}

func (d *decoder) value(depth int) (any, error) {
	d.space()
	if err := d.count(); err != nil {
		return nil, err
	}
	if d.pos >= len(d.in) {
		return nil, d.fail("ends early")
	}
	switch c := d.in[d.pos]; {
	case c == '"':
		s, err := d.string()
		if err != nil || !d.build {
			return nil, err
		}
		return d.textOf(s), nil
	case c == '{' || c == '[':
		if depth >= d.lim.Depth {
			return nil, d.fail("too deep")
		}
		d.pos++
		d.depth = max(d.depth, depth+1)
		if c == '{' {
			return d.object(depth + 1)
		}
		return d.array(depth + 1)
	case c == '-' || c >= '0' && c <= '9':
		return d.number()
	case c == 't':
		return d.literal("true", true)
	case c == 'f':
		return d.literal("false", false)
	case c == 'n':
		return d.literal("null", nil)
	}
	return nil, d.fail("no JSON value starts here")
}

func (d *decoder) literal(word string, v any) (any, error) {
	if len(d.in)-d.pos < len(word) || string(d.in[d.pos:d.pos+len(word)]) != word {
		return nil, d.fail("no JSON value starts here")
	}
	d.pos += len(word)
	d.out = append(d.out, word...)
	return v, nil
}

func (d *decoder) array(depth int) (any, error) {
	d.out = append(d.out, '[')
	base := len(d.values)
	d.space()
	if d.pos < len(d.in) && d.in[d.pos] == ']' {
		return d.endArray(base)
	}
	for {
		v, err := d.value(depth)
		if err != nil {
			return nil, err
		}
		if d.build {
			d.values = append(d.values, v)
		}
		more, err := d.next(']')
		if err != nil {
			return nil, err
		}
		if !more {
			return d.endArray(base)
		}
		d.out = append(d.out, ',')
	}
}

func (d *decoder) endArray(base int) (any, error) {
	d.pos++
	d.out = append(d.out, ']')
	if !d.build {
		return nil, nil
	}
	list := make([]any, len(d.values)-base)
	copy(list, d.values[base:])
	clear(d.values[base:])
	d.values = d.values[:base]
	return list, nil
}

// next stands after a value: true steps over a comma, false stands on end.
func (d *decoder) next(end byte) (bool, error) {
	d.space()
	switch {
	case d.pos >= len(d.in):
		return false, d.fail("ends early")
	case d.in[d.pos] == ',':
		d.pos++
		return true, nil
	case d.in[d.pos] == end:
		return false, nil
	}
	return false, d.fail("neither a comma nor an end")
}
