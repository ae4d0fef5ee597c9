package planner

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"github.com/isolategpt/isolategpt/isc"
)

func (k *checker) literal(l Literal, want typ, at string) {
	t := literalType(l)
	switch {
	case want.any:
	case t.types == isc.TypeNumber && want.types&isc.TypeNumber == 0 && want.types&isc.TypeInteger != 0:
		k.fail(at, CodeTypeMismatch, "%s is no whole number", short(string(l.JSON)))
	case !fits(t, want):
		k.fail(at, CodeTypeMismatch, "%s cannot be %s", describe(t), describe(want))
	case len(want.enum) > 0 && !slices.ContainsFunc(want.enum, func(e json.RawMessage) bool { return sameJSON(e, l.JSON) }):
		k.fail(at, CodeBadLiteral, "it is not one of the values allowed%s", choices(want.enum))
	case t.types == isc.TypeString && !formatted(l, want.format):
		k.fail(at, CodeBadLiteral, "it is no %s", want.format)
	}
}

// sameJSON compares two scalars.
func sameJSON(a, b json.RawMessage) bool {
	x, errX := isc.Canonical(a)
	y, errY := isc.Canonical(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// formatted checks a literal against the formats that are easily got wrong.
func formatted(l Literal, format string) bool {
	var s string
	if json.Unmarshal(l.JSON, &s) != nil {
		return false
	}
	var err error
	switch format {
	case "date":
		_, err = time.Parse(time.DateOnly, s)
	case "date-time":
		_, err = time.Parse(time.RFC3339, s)
	}
	return err == nil
}

// literals checks the whole body if every argument is written out in the plan.
func (k *checker) literals(c Call, e Entry) {
	if e.Request == nil || c.Each != nil {
		return
	}
	enc := &encoder{}
	for _, v := range c.Args {
		if !isLiteral(v) {
			return
		}
	}
	body, err := json.Marshal(enc.plainMembers(c.Args))
	if err == nil && enc.err == nil {
		_, err = e.Request.Check(body)
	}
	if err != nil || enc.err != nil {
		k.fail("/args", CodeBadLiteral, "the request format of %s refuses these arguments", e.Name)
	}
}

func isLiteral(v Value) bool {
	switch v := v.(type) {
	case Literal:
		return true
	case Array:
		return !slices.ContainsFunc(v, func(e Value) bool { return !isLiteral(e) })
	case Object:
		for _, e := range v.Fields {
			if !isLiteral(e) {
				return false
			}
		}
		return true
	}
	return false
}

// plainMembers is members with every object as it will be sent.
func (e *encoder) plainMembers(vs map[string]Value) map[string]any {
	out := make(map[string]any, len(vs))
	for name, v := range vs {
		out[name] = e.plain(v)
	}
	return out
}

func (e *encoder) plain(v Value) any {
	switch v := v.(type) {
	case Literal:
		return v.JSON
	case Array:
		out := make([]any, len(v))
		for i, el := range v {
			out[i] = e.plain(el)
		}
		return out
	case Object:
		return e.plainMembers(v.Fields)
	}
	return e.fail("not a literal")
}
