package planner

import (
	"encoding/json"
	"regexp"

	"github.com/isolategpt/isolategpt/isc"
)

// shapeFormats are the formats that a shape may assert; the closed ones carry
// no words.
var shapeFormats = map[string]bool{"": false, "date": true, "time": true, "minute": true, "email": true, "iban": true, "uri": false}

// shape checks an answer's format and gives the type of the answer. seen says
// whether there is anything that a string could be found in.
func (k *checker) shape(s Shape, at path, seen bool, depth int) typ {
	var t typ
	switch s.Type {
	case ShapeBoolean:
		t = typ{types: isc.TypeBoolean, scalar: true}
	case ShapeNumber:
		t = typ{types: isc.TypeNumber, scalar: true}
	case ShapeInteger:
		t = typ{types: isc.TypeInteger, scalar: true}
	case ShapeString:
		t = k.stringShape(s, at, seen)
	case ShapePick:
		t = k.pick(s, at)
	case ShapeArray:
		if s.MaxItems <= 0 {
			k.fail(at.to("/max_items"), CodeNoBound, "an array needs max_items")
		}
		if s.Items == nil {
			k.fail(at.to("/items"), CodeBadShape, "an array of what")
			return anything()
		}
		t = arrayOf(k.shape(*s.Items, at.to("/items"), seen, depth+1))
	case ShapeObject:
		t = k.objectShape(s, at, seen, depth)
	default:
		k.fail(at, CodeBadShape, "it has no type")
		return anything()
	}
	if s.Nullable {
		t.types |= isc.TypeNull
	}
	return t
}

func (k *checker) objectShape(s Shape, at path, seen bool, depth int) typ {
	t := typ{types: isc.TypeObject, fields: map[string]typ{}}
	if len(s.Fields) == 0 {
		k.fail(at.to("/fields"), CodeBadShape, "an object of nothing")
	}
	for _, name := range sortedKeys(s.Fields) {
		if !plainName.MatchString(name) {
			k.fail(at.to("/fields"), CodeBadShape, "%q is no name", short(name))
		}
		t.fields[name] = k.shape(s.Fields[name], at.member("/fields", name), seen, depth+1)
	}
	return t
}

func (k *checker) stringShape(s Shape, at path, seen bool) typ {
	closed, ok := shapeFormats[s.Format]
	if !ok {
		k.fail(at.to("/format"), CodeBadShape, "%q is none of date, time, minute, email, iban, uri", short(s.Format))
	}
	if s.Found && !seen {
		k.fail(at.to("/found"), CodeBadShape, "there is nothing that it could be found in")
	}
	t := typ{types: isc.TypeString, format: s.Format, scalar: closed, written: !closed && !s.Found && len(s.Enum) == 0}
	for _, e := range s.Enum {
		if !choice.MatchString(e) {
			k.fail(at.to("/enum"), CodeBadShape, "a choice is 1 to 64 letters, digits, spaces, _ and -")
			break
		}
		raw, err := json.Marshal(e)
		if err == nil {
			t.enum = append(t.enum, raw)
		}
	}
	if len(s.Enum) > 64 {
		k.fail(at.to("/enum"), CodeBadShape, "over 64 choices")
	}
	t.scalar = t.scalar || len(s.Enum) > 0
	return t
}

var choice = regexp.MustCompile(`^[A-Za-z0-9 _-]{1,64}$`)

func (k *checker) pick(s Shape, at path) typ {
	if s.Pick == nil {
		k.fail(at, CodeBadShape, "a pick from what")
		return anything()
	}
	t := k.reference(*s.Pick, at.to("/pick"))
	elem, ok := t.child("*")
	if !ok || !t.any && t.types&isc.TypeArray == 0 {
		k.fail(at.to("/pick"), CodePickNoArray, "what it refers to is no array")
		return anything()
	}
	return elem
}
