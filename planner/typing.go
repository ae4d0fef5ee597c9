package planner

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/isolategpt/isolategpt/isc"
)

const (
	containers = isc.TypeArray | isc.TypeObject
	numbers    = isc.TypeInteger | isc.TypeNumber
	everything = containers | numbers | isc.TypeNull | isc.TypeBoolean | isc.TypeString
)

// typ is what is known of a value before it exists. It is made from a format,
// from the shape of an answer, or from an array of either.
type typ struct {
	any     bool // nothing is known
	types   isc.Types
	role    isc.Role
	format  string // asserted format of a string
	enum    []json.RawMessage
	scalar  bool // closed, as far as this place itself goes
	written bool // a model's own words

	f      *places        // children by f and at,
	at     string         //
	elem   *typ           // or those of an array,
	fields map[string]typ // or those of an object with exactly these
}

// byPerson is t as a person answers it: they may say where something goes, in
// their own words.
func (t typ) byPerson() typ {
	t.written = false
	if t.elem != nil {
		elem := t.elem.byPerson()
		t.elem = &elem
	}
	fields := make(map[string]typ, len(t.fields))
	for name, f := range t.fields {
		fields[name] = f.byPerson()
	}
	if t.fields != nil {
		t.fields = fields
	}
	return t
}

func anything() typ { return typ{any: true, types: everything} }

// places are what a format says about its places, looked up once: asking the
// format itself means searching its schema.
type places struct {
	format *isc.Format
	once   sync.Once
	known  map[string]isc.Field
	needed []string // the members that its root requires
}

func (p *places) load() {
	p.known = map[string]isc.Field{}
	for _, d := range p.format.Fields() {
		p.known[d.Pointer] = d
		if parts, ok := split(d.Pointer); ok && len(parts) == 1 && parts[0] != "*" && d.Required {
			p.needed = append(p.needed, unescape(parts[0]))
		}
	}
}

// field is [isc.Format.At].
func (p *places) field(at string) (isc.Field, bool) {
	p.once.Do(p.load)
	if d, ok := p.known[at]; ok {
		return d, true
	}
	return p.format.At(at)
}

// required are the members that the root requires, sorted.
func (p *places) required() []string {
	if p == nil {
		return nil
	}
	p.once.Do(p.load)
	return p.needed
}

// formatType is the type at a pointer of a format; nil says nothing.
func formatType(f *places, at string) (typ, bool) {
	if f == nil {
		return anything(), true
	}
	d, ok := f.field(at)
	if !ok {
		return typ{}, false
	}
	return typ{
		any: d.Types == everything && !d.Closed && len(d.Enum) == 0, types: d.Types, role: d.Role, format: d.Format,
		enum: d.Enum, scalar: d.Closed || wordless(d.Types), f: f, at: at,
	}, true
}

func arrayOf(t typ) typ { return typ{types: isc.TypeArray, elem: &t} }

// child is the type of a part: an element or further member for "*", else a
// member.
func (t typ) child(part string) (typ, bool) {
	switch {
	case t.f != nil:
		c, ok := formatType(t.f, t.at+"/"+part)
		if !ok && t.any {
			return anything(), true
		}
		return c, ok
	case t.any:
		return anything(), true
	case t.elem != nil && part == "*":
		return *t.elem, true
	case t.fields != nil:
		c, ok := t.fields[unescape(part)]
		return c, ok
	}
	return typ{}, false
}

// closed says whether no value of the type can carry words, however deep.
func (t typ) closed() bool {
	switch {
	case t.any:
		return false
	case t.f != nil:
		return closedUnder(t.f, t.at)
	case t.elem != nil:
		return t.elem.closed()
	case t.fields != nil:
		for _, c := range t.fields {
			if !c.closed() {
				return false
			}
		}
		return true
	}
	return t.scalar
}

// comparable says whether a guard may look at it: closed, and no container.
func (t typ) comparable() bool { return !t.any && t.types&containers == 0 && t.closed() }

// ordered says whether less and more mean something, and is "number" or
// "date".
func (t typ) ordered() (string, bool) {
	switch kinds := t.types &^ isc.TypeNull; {
	case kinds != 0 && kinds&^numbers == 0:
		return "number", true
	case kinds == isc.TypeString && slices.Contains(times, t.format):
		return "date", true
	}
	return "", false
}

// times are the formats of strings that sort by time.
var times = []string{"date", "date-time", "time", "minute"}

// closedUnder says whether nothing at or below a pointer can carry words. A
// number without bounds carries none, though the protocol counts it as open.
func closedUnder(f *places, at string) bool {
	d, ok := f.field(at)
	if !ok {
		return false
	}
	if d.Closed || wordless(d.Types) {
		return true
	}
	_, open := f.format.Closed()
	for _, o := range open {
		if !related(o, at) {
			continue
		}
		if d, ok := f.field(o); !ok || !wordless(d.Types) {
			return false
		}
	}
	return true
}

// wordless says whether values of the types are never words.
func wordless(t isc.Types) bool { return t&^(isc.TypeNull|isc.TypeBoolean|numbers) == 0 }

// related says whether one of two pointers leads to or through the other, where
// "*" may be any part.
func related(a, b string) bool {
	x, okX := split(a)
	y, okY := split(b)
	if !okX || !okY {
		return true
	}
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] && x[i] != "*" && y[i] != "*" {
			return false
		}
	}
	return true
}

// walk follows a pointer. With "*" in it the result is one flat array.
func walk(t typ, parts []string) (out typ, star, ok bool) {
	for _, part := range parts {
		if t, ok = t.child(part); !ok {
			return typ{}, false, false
		}
		star = star || part == "*"
	}
	if star {
		return arrayOf(t), true, true
	}
	return t, false, true
}

// fits says whether a value of type t might fit a place of type want. What is
// not known may fit: the operator checks the value itself before it is used.
func fits(t, want typ) bool {
	if t.any || want.any {
		return true
	}
	have := t.types
	if have&numbers != 0 {
		have |= numbers // an integer is a number, and a number may be whole
	}
	common := have & want.types
	if common&^isc.TypeNull == 0 {
		return t.types&^isc.TypeNull == 0 && common != 0
	}
	if common&isc.TypeString != 0 && common&^(isc.TypeString|isc.TypeNull) == 0 && !formatsFit(t.format, want.format) {
		return false
	}
	if common&^isc.TypeNull == isc.TypeArray {
		a, okA := t.child("*")
		b, okB := want.child("*")
		return !okA || !okB || fits(a, b)
	}
	for name, c := range t.fields {
		w, ok := want.child(escape(name))
		if !ok || !fits(c, w) {
			return false
		}
	}
	return true
}

// formatsFit says whether a string of one format might be one of the other.
// What has no format might be anything.
func formatsFit(have, want string) bool {
	return have == "" || want == "" || have == want || have == "iban" || strings.HasPrefix(want, "uri") && have == "uri"
}

// writes says whether a model's own words would decide a target: somewhere in
// want is one, and the value there is written.
func writes(t, want typ, depth int) bool {
	if t.written && want.role.IsTarget() {
		return true
	}
	if depth > MaxDepth {
		return false
	}
	if t.elem != nil {
		if t.elem.written && want.role.IsTarget() {
			return true
		}
		w, ok := want.child("*")
		return ok && writes(*t.elem, w, depth+1)
	}
	for name, c := range t.fields {
		if w, ok := want.child(escape(name)); ok && writes(c, w, depth+1) {
			return true
		}
	}
	return false
}
