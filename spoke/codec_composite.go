package spoke

import (
	"errors"
	"fmt"
	"reflect"
	"unicode/utf8"
)

func (c listCodec) encode(v reflect.Value) (any, error) {
	out := make([]any, v.Len())
	for i := range out {
		item, err := c.elem.encode(v.Index(i))
		if err != nil {
			return nil, err
		}
		out[i] = item
	}
	return out, nil
}

func (c listCodec) decode(tree any, into reflect.Value) error {
	items, ok := tree.([]any)
	if !ok || into.Kind() == reflect.Array && len(items) != into.Len() {
		return errShape
	}
	if into.Kind() == reflect.Slice {
		into.Set(reflect.MakeSlice(into.Type(), len(items), len(items)))
	}
	for i, item := range items {
		if err := c.elem.decode(item, into.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

func (c mapCodec) encode(v reflect.Value) (any, error) {
	out := make(map[string]any, v.Len())
	for key, value := range v.Seq2() {
		if !utf8.ValidString(key.String()) {
			return nil, errors.New("a key is not valid UTF-8")
		}
		item, err := c.elem.encode(value)
		if err != nil {
			return nil, err
		}
		out[key.String()] = item
	}
	return out, nil
}

func (c mapCodec) decode(tree any, into reflect.Value) error {
	members, ok := tree.(map[string]any)
	if !ok {
		return errShape
	}
	t := into.Type()
	out := reflect.MakeMapWithSize(t, len(members))
	for key, member := range members {
		value := reflect.New(t.Elem()).Elem()
		if err := c.elem.decode(member, value); err != nil {
			return err
		}
		out.SetMapIndex(reflect.ValueOf(key).Convert(t.Key()), value)
	}
	into.Set(out)
	return nil
}

func (c pointerCodec) encode(v reflect.Value) (any, error) {
	if v.IsNil() {
		return nil, errors.New("a pointer is nil where a value must be")
	}
	return c.elem.encode(v.Elem())
}

func (c pointerCodec) decode(tree any, into reflect.Value) error {
	value := reflect.New(into.Type().Elem())
	if err := c.elem.decode(tree, value.Elem()); err != nil {
		return err
	}
	into.Set(value)
	return nil
}

func (c *structCodec) encode(v reflect.Value) (any, error) {
	out := make(map[string]any, len(c.fields))
	for _, f := range c.fields {
		value := v.FieldByIndex(f.index)
		if f.optional && isEmpty(value) {
			continue
		}
		item, err := f.codec.encode(value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		out[f.name] = item
	}
	return out, nil
}

func (c *structCodec) decode(tree any, into reflect.Value) error {
	members, ok := tree.(map[string]any)
	if !ok {
		return errShape
	}
	seen := 0
	for _, f := range c.fields {
		member, ok := members[f.name]
		if !ok {
			continue
		}
		seen++
		if err := f.codec.decode(member, into.FieldByIndex(f.index)); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	if seen != len(members) {
		return errShape
	}
	return nil
}

// isEmpty is when an optional field is left out: the empty values of
// encoding/json, and the zero value of a struct.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return v.Len() == 0
	default:
		return v.IsZero()
	}
}
