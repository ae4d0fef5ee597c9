package planner

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/isolategpt/isolategpt/isc"
)

func (k *checker) literal(l Literal, want typ, at path) {
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
	for _, v := range c.Args {
		if !isLiteral(v) {
			return
		}
	}
	body, err := membersJSON(c.Args)
	if err == nil {
		body, err = e.Request.Check(body)
	}
	if err == nil {
		k.keepBody(body)
	} else {
		k.fail(root("/args"), CodeBadLiteral, "the request format of %s refuses these arguments", e.Name)
	}
}

// keepBody keeps the whole body of the step that is looked at.
func (k *checker) keepBody(body json.RawMessage) {
	if k.bodies == nil {
		k.bodies = make(map[string]json.RawMessage, len(k.plan.Steps))
	}
	k.bodies[k.plan.Steps[k.now].ID] = body
}

// membersJSON is an object of literals, as it will be sent.
func membersJSON(vs map[string]Value) ([]byte, error) {
	b := make([]byte, 0, 64)
	b = append(b, '{')
	for name, v := range vs {
		l, ok := v.(Literal)
		if !ok || !plainName.MatchString(name) {
			return json.Marshal(plainMembers(vs))
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), name...), '"', ':')
		b = append(b, l.JSON...)
	}
	return append(b, '}'), nil
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
	default: // any other is not known before it runs
	}
	return false
}

// plain is a value of literals with every object as it will be sent.
func plain(v Value) any {
	switch v := v.(type) {
	case Literal:
		return v.JSON
	case Array:
		out := make([]any, len(v))
		for i, el := range v {
			out[i] = plain(el)
		}
		return out
	case Object:
		return plainMembers(v.Fields)
	default: // any other is not known before it runs
	}
	return errNoLiteral
}

func plainMembers(vs map[string]Value) map[string]any {
	out := make(map[string]any, len(vs))
	for name, v := range vs {
		out[name] = plain(v)
	}
	return out
}

// noLiteral cannot be marshalled.
type noLiteral struct{}

var errNoLiteral noLiteral

func (noLiteral) MarshalJSON() ([]byte, error) { return nil, errors.New("planner: not a literal") }
