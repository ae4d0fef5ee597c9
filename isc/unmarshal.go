package isc

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
)

// Unmarshal decodes raw into v, a pointer, as strictly as [Canonical], and
// refuses keys that the struct does not have. Keys must match in case, and null
// fits only what can be nil. A json.RawMessage gets canonical bytes. A type with
// an UnmarshalJSON or UnmarshalText of its own answers for its part.
//
// The error is a [*MalformedError] and holds nothing of raw.
func Unmarshal(raw []byte, v any) error { return unmarshal(raw, v, defaultLimits) }

func unmarshal(raw []byte, v any, lim Limits) error {
	got, err := decode(raw, lim, true)
	if err != nil {
		return err
	}
	t := reflect.TypeOf(v)
	if t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if reason := fits(got.tree, t); reason != "" {
		return &MalformedError{Reason: reason}
	}
	if err := json.Unmarshal(got.canonical, v); err != nil {
		return &MalformedError{Reason: "a value that its place cannot hold"}
	}
	return nil
}

var (
	jsonUnmarshaler = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// fits says why tree cannot be decoded into t; "" if it can as far as keys and
// nulls go.
func fits(tree any, t reflect.Type) string {
	if t == nil {
		return ""
	}
	if t.Implements(jsonUnmarshaler) || reflect.PointerTo(t).Implements(jsonUnmarshaler) {
		return ""
	}
	if tree == nil {
		return fitsNull(t)
	}
	if t.Implements(textUnmarshaler) || reflect.PointerTo(t).Implements(textUnmarshaler) {
		return ""
	}
	switch t.Kind() {
	case reflect.Pointer:
		return fits(tree, t.Elem())
	case reflect.Struct:
		return fitsStruct(tree, t)
	case reflect.Slice, reflect.Array:
		list, _ := tree.([]any)
		return fitsAll(list, t.Elem())
	case reflect.Map:
		members, _ := tree.(map[string]any)
		for _, v := range members {
			if reason := fits(v, t.Elem()); reason != "" {
				return reason
			}
		}
	}
	return ""
}

func fitsNull(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface:
		return ""
	}
	return "null where a value must be"
}

func fitsAll(list []any, elem reflect.Type) string {
	for _, v := range list {
		if reason := fits(v, elem); reason != "" {
			return reason
		}
	}
	return ""
}

func fitsStruct(tree any, t reflect.Type) string {
	members, ok := tree.(map[string]any)
	if !ok {
		return "" // json.Unmarshal refuses it
	}
	fields := fieldsOf(t)
	for key, v := range members {
		field, known := fields[key]
		if !known {
			return "a key that does not belong there"
		}
		if reason := fits(v, field); reason != "" {
			return reason
		}
	}
	return ""
}

var fieldCache sync.Map // reflect.Type to map[string]reflect.Type

// fieldsOf are the keys that encoding/json knows for a struct type.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	if cached, ok := fieldCache.Load(t); ok {
		return cached.(map[string]reflect.Type)
	}
	fields := map[string]reflect.Type{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || name == "-" || f.Anonymous && name == "" && isStruct(f.Type) {
			continue
		}
		if name == "" {
			name = f.Name
		}
		fields[name] = f.Type
	}
	fieldCache.Store(t, fields)
	return fields
}

func isStruct(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind() == reflect.Struct
}
