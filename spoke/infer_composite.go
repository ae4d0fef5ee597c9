package spoke

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// inferList gives lengths to the list and the rest of the tag to its elements.
func inferList(t reflect.Type, g *tag, path string, within []reflect.Type) (node, error) {
	schema := map[string]any{"type": "array"}
	if t.Kind() == reflect.Array {
		schema["minItems"], schema["maxItems"] = t.Len(), t.Len()
	}
	if err := g.bounds(schema, "minItems", "maxItems"); err != nil {
		return node{}, fmt.Errorf("%s: %w", path, err)
	}
	inner := *g
	*g = tag{description: g.description}
	inner.description = ""
	elem, err := infer(t.Elem(), inner, path+"[]", within)
	if err != nil {
		return node{}, err
	}
	schema["items"] = elem.schema
	return node{schema, listCodec{elem.codec}}, nil
}

func inferMap(t reflect.Type, g *tag, path string, within []reflect.Type) (node, error) {
	if t.Key().Kind() != reflect.String || isText(t.Key()) {
		return node{}, fmt.Errorf("%s: the keys of a map must be plain strings, not %s", path, t.Key())
	}
	schema := map[string]any{"type": "object", "properties": map[string]any{}}
	if err := g.bounds(schema, "minProperties", "maxProperties"); err != nil {
		return node{}, fmt.Errorf("%s: %w", path, err)
	}
	inner := *g
	*g = tag{description: g.description}
	inner.description = ""
	elem, err := infer(t.Elem(), inner, path+"{}", within)
	if err != nil {
		return node{}, err
	}
	schema["additionalProperties"] = elem.schema
	return node{schema, mapCodec{elem.codec}}, nil
}

func inferPointer(t reflect.Type, g *tag, path string, within []reflect.Type) (node, error) {
	if t.Elem().Kind() == reflect.Pointer {
		return node{}, fmt.Errorf("%s: a pointer to a pointer has no format", path)
	}
	inner := *g
	*g = tag{}
	n, err := infer(t.Elem(), inner, path, within)
	return node{n.schema, pointerCodec{n.codec}}, err
}

func inferStruct(t reflect.Type, path string, within []reflect.Type) (node, error) {
	for _, w := range within {
		if w == t {
			return node{}, fmt.Errorf("%s: %s holds itself; a recursive type has no format", path, t)
		}
	}
	s := &structCodec{}
	properties, required := map[string]any{}, []string{}
	if err := s.add(t, path, append(within, t), nil, properties, &required); err != nil {
		return node{}, err
	}
	schema := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		schema["required"] = required
	}
	return node{schema, s}, nil
}

// add gives s the fields of t, those of embedded structs among them.
func (s *structCodec) add(t reflect.Type, path string, within []reflect.Type, index []int, properties map[string]any, required *[]string) error {
	for f := range t.Fields() {
		j := parseJSONTag(f)
		at := path + "." + f.Name
		where := append(slices.Clone(index), f.Index...)
		switch {
		case j.skip:
			continue
		case f.Anonymous && j.name == "" && f.Type.Kind() == reflect.Struct && f.Type != timeType && f.Type != urlType:
			if err := s.add(f.Type, at, append(within, f.Type), where, properties, required); err != nil {
				return err
			}
			continue
		case f.Anonymous && j.name == "" && f.Type.Kind() == reflect.Pointer:
			return fmt.Errorf("%s: embed the struct itself, not a pointer to it", at)
		case !f.IsExported():
			continue
		case j.quoted:
			return fmt.Errorf("%s: the json option \"string\" is not supported", at)
		}
		if err := s.addField(f, j, at, within, where, properties, required); err != nil {
			return err
		}
	}
	return nil
}

func (s *structCodec) addField(f reflect.StructField, j jsonTag, at string, within []reflect.Type, index []int, properties map[string]any, required *[]string) error {
	name := j.name
	if name == "" {
		name = f.Name
	}
	for _, other := range s.fields {
		if strings.EqualFold(other.name, name) {
			return fmt.Errorf("%s: two fields are called %q", at, name)
		}
	}
	g, err := parseTag(f.Tag.Get("isolate"))
	if err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	n, err := infer(f.Type, g, at, within)
	if err != nil {
		return err
	}
	optional := j.optional || f.Type.Kind() == reflect.Pointer
	s.fields = append(s.fields, structField{name: name, index: index, optional: optional, codec: n.codec})
	properties[name] = n.schema
	if !optional {
		*required = append(*required, name)
	}
	return nil
}
