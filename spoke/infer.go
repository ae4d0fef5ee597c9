package spoke

import (
	"encoding"
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"time"

	"github.com/isolategpt/isolategpt/isc"
)

// node is what is inferred from a Go type: a schema, and the codec that makes
// and reads the values that fit it.
type node struct {
	schema map[string]any
	codec  codec
}

var (
	timeType   = reflect.TypeFor[time.Time]()
	urlType    = reflect.TypeFor[url.URL]()
	numberType = reflect.TypeFor[json.Number]()
	rawType    = reflect.TypeFor[json.RawMessage]()
)

// inferFormat makes the format of a type and its codec. The errors name the
// field by its path in Go: "Order.Lines[].Price".
func inferFormat(t reflect.Type) (*isc.Format, codec, error) {
	n, err := infer(t, tag{}, typeName(t), nil)
	if err != nil {
		return nil, nil, err
	}
	schema, err := json.Marshal(n.schema)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", typeName(t), err)
	}
	f, err := isc.ParseFormat(schema)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", typeName(t), err)
	}
	return f, n.codec, nil
}

func typeName(t reflect.Type) string {
	if t.Name() != "" {
		return t.Name()
	}
	return t.String()
}

// infer makes the node of t at path; within are the structs around it.
func infer(t reflect.Type, g tag, path string, within []reflect.Type) (node, error) {
	n, err := inferKind(t, &g, path, within)
	if err != nil {
		return node{}, err
	}
	if err := g.finish(n.schema, t); err != nil {
		return node{}, fmt.Errorf("%s: %w", path, err)
	}
	return n, nil
}

func inferKind(t reflect.Type, g *tag, path string, within []reflect.Type) (node, error) {
	if n, ok, err := inferKnown(t, g, path); ok || err != nil {
		return n, err
	}
	schema := map[string]any{}
	at := func(err error) error {
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		return nil
	}
	switch k := t.Kind(); k {
	case reflect.Bool:
		schema["type"] = "boolean"
		return node{schema, boolCodec{}}, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		schema["type"] = "integer"
		schema["minimum"], schema["maximum"] = intRange(t)
		return node{schema, intCodec{}}, at(g.numbers(schema))
	case reflect.Float32, reflect.Float64:
		schema["type"] = "number"
		return node{schema, floatCodec{}}, at(g.numbers(schema))
	case reflect.String:
		schema["type"] = "string"
		return node{schema, stringCodec{}}, at(g.strings(schema))
	case reflect.Slice, reflect.Array:
		return inferList(t, g, path, within)
	case reflect.Map:
		return inferMap(t, g, path, within)
	case reflect.Struct:
		return inferStruct(t, path, within)
	case reflect.Pointer:
		return inferPointer(t, g, path, within)
	default:
		return node{}, fmt.Errorf("%s: a %s has no format: use a type with one, or WithFormats", path, describe(t))
	}
}

func describe(t reflect.Type) string {
	if t.Kind() == reflect.Interface {
		return "value of any type (" + t.String() + ")"
	}
	return t.String()
}

// inferKnown serves the types whose form is not that of their kind.
func inferKnown(t reflect.Type, g *tag, path string) (node, bool, error) {
	schema := map[string]any{"type": "string"}
	switch {
	case t == timeType:
		c := timeCodec{layout: time.RFC3339Nano}
		switch g.format {
		case "", "date-time":
			schema["format"] = "date-time"
		case "date":
			schema["format"], c.layout = "date", time.DateOnly
		default:
			return node{}, false, fmt.Errorf("%s: a time has the format date-time or date, not %q", path, g.format)
		}
		g.format = ""
		return node{schema, c}, true, nil
	case t == urlType:
		schema["format"] = "uri"
		return node{schema, urlCodec{}}, true, nil
	case t == numberType:
		schema["type"] = "number"
		if err := g.numbers(schema); err != nil {
			return node{}, false, fmt.Errorf("%s: %w", path, err)
		}
		return node{schema, numberCodec{}}, true, nil
	case t == rawType || hasOwnJSON(t):
		return node{}, false, fmt.Errorf("%s: %s writes its own JSON, so it has no format: use WithFormats", path, t)
	case isText(t):
		if err := g.strings(schema); err != nil {
			return node{}, false, fmt.Errorf("%s: %w", path, err)
		}
		return node{schema, textCodec{}}, true, nil
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 && t.Elem().PkgPath() == "":
		schema["pattern"] = "^[A-Za-z0-9+/]*={0,2}$"
		return node{schema, bytesCodec{}}, true, nil
	}
	return node{}, false, nil
}

func hasOwnJSON(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		return false
	}
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.Marshaler]()) || p.Implements(reflect.TypeFor[json.Unmarshaler]())
}

func isText(t reflect.Type) bool {
	return t.Kind() != reflect.Pointer && t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) &&
		reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// intRange bounds an integer by what its Go type holds, so that whatever fits
// the format can be decoded.
func intRange(t reflect.Type) (low, high json.Number) {
	bits := t.Bits()
	switch t.Kind() {
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "0", json.Number(fmt.Sprint(uint64(1)<<(bits-1) - 1 + uint64(1)<<(bits-1)))
	default:
		return json.Number(fmt.Sprint(int64(-1) << (bits - 1))), json.Number(fmt.Sprint(int64(1)<<(bits-1) - 1))
	}
}
