package spoke

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// tag is what a field's struct tags say about its format: the `isolate` tag and
// the name part of the `json` tag.
type tag struct {
	min, max    string
	enum        []string
	role        string
	format      string
	pattern     string
	description string
}

// parseTag reads `isolate:"min=0,max=500,enum=a|b,role=destination,format=date"`.
// description takes the rest of the tag, commas and all.
func parseTag(s string) (tag, error) {
	var t tag
	for s != "" {
		var item string
		if strings.HasPrefix(s, "description=") {
			item, s = s, ""
		} else {
			item, s, _ = strings.Cut(s, ",")
		}
		key, value, ok := strings.Cut(item, "=")
		if !ok || value == "" {
			return tag{}, fmt.Errorf("tag item %q is not key=value", item)
		}
		if err := t.set(key, value); err != nil {
			return tag{}, err
		}
	}
	return t, nil
}

func (t *tag) set(key, value string) error {
	switch key {
	case "min":
		t.min = value
	case "max":
		t.max = value
	case "enum":
		t.enum = strings.Split(value, "|")
	case "role":
		t.role = value
	case "format":
		t.format = value
	case "pattern":
		t.pattern = value
	case "description":
		t.description = value
	default:
		return fmt.Errorf("tag key %q is not one of min, max, enum, role, format, pattern, description", key)
	}
	return nil
}

// bounds takes the bounds off the tag and sets them under the two keywords.
func (t *tag) bounds(schema map[string]any, low, high string) error {
	for _, b := range []struct{ keyword, value string }{{low, t.min}, {high, t.max}} {
		if b.value == "" {
			continue
		}
		if !isNumber(b.value) {
			return fmt.Errorf("bound %q is not a number", b.value)
		}
		schema[b.keyword] = json.Number(b.value)
	}
	t.min, t.max = "", ""
	return nil
}

// numbers takes bounds and enum off the tag, for a number.
func (t *tag) numbers(schema map[string]any) error {
	if err := t.bounds(schema, "minimum", "maximum"); err != nil {
		return err
	}
	if t.enum == nil {
		return nil
	}
	values := make([]any, len(t.enum))
	for i, e := range t.enum {
		if !isNumber(e) {
			return fmt.Errorf("enum value %q is not a number", e)
		}
		values[i] = json.Number(e)
	}
	schema["enum"], t.enum = values, nil
	return nil
}

// strings takes lengths, enum, format and pattern off the tag, for a string.
func (t *tag) strings(schema map[string]any) error {
	if err := t.bounds(schema, "minLength", "maxLength"); err != nil {
		return err
	}
	if t.enum != nil {
		schema["enum"] = t.enum
	}
	if t.format != "" {
		schema["format"] = t.format
	}
	if t.pattern != "" {
		schema["pattern"] = t.pattern
	}
	t.enum, t.format, t.pattern = nil, "", ""
	return nil
}

// finish sets role and description, which any field may have, and complains of
// whatever no kind of value took.
func (t *tag) finish(schema map[string]any, of reflect.Type) error {
	if t.role != "" {
		schema["x-isolate-role"] = t.role
	}
	if t.description != "" {
		schema["description"] = t.description
	}
	if t.min+t.max+t.format+t.pattern != "" || t.enum != nil {
		return fmt.Errorf("tag has an item that %s cannot have", of)
	}
	return nil
}

func isNumber(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil && json.Valid([]byte(s))
}

// jsonTag is what the `json` tag says.
type jsonTag struct {
	name     string
	skip     bool
	optional bool
	quoted   bool
}

func parseJSONTag(f reflect.StructField) jsonTag {
	raw := f.Tag.Get("json")
	if raw == "-" {
		return jsonTag{skip: true}
	}
	name, rest, _ := strings.Cut(raw, ",")
	t := jsonTag{name: name}
	for option := range strings.SplitSeq(rest, ",") {
		switch option {
		case "omitempty", "omitzero":
			t.optional = true
		case "string":
			t.quoted = true
		}
	}
	return t
}
