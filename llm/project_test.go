package llm_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/isolategpt/isolategpt/llm"
)

func TestProjectWritesTheSmallLanguage(t *testing.T) {
	for _, c := range []struct {
		name, schema, want string
		open               bool
	}{
		{"optional becomes nullable and required",
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}},"required":["a"]}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":["integer","null"]}},"required":["a","b"],"additionalProperties":false}`, false},
		{"patterns, formats and bounds go, bounds of arrays stay",
			`{"type":"object","properties":{"a":{"type":"string","pattern":"^x$","minLength":1,"format":"date"},"n":{"type":"number","minimum":1},"l":{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":5,"uniqueItems":true}},"required":["a","n","l"]}`,
			`{"type":"object","properties":{"a":{"type":"string"},"n":{"type":"number"},"l":{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":5}},"required":["a","n","l"],"additionalProperties":false}`, false},
		{"enum and const",
			`{"type":"object","properties":{"a":{"enum":["x","y"]},"b":{"const":1}}}`,
			`{"type":"object","properties":{"a":{"type":["string","null"],"enum":["x","y",null]},"b":{"type":["integer","null"],"enum":[1,null]}},"required":["a","b"],"additionalProperties":false}`, false},
		{"properties are always there",
			`{"type":"object","additionalProperties":false}`,
			`{"type":"object","properties":{},"required":[],"additionalProperties":false}`, false},
		{"a root that is no object is wrapped",
			`{"type":"array","items":{"type":"string"}}`,
			`{"type":"object","properties":{"value":{"type":"array","items":{"type":"string"}}},"required":["value"],"additionalProperties":false}`, false},
		{"oneOf becomes anyOf, with what stands beside it",
			`{"type":"object","properties":{"x":{"type":"integer"}},"required":["x"],"oneOf":[{"properties":{"k":{"const":"a"}},"required":["k"]},{"properties":{"k":{"const":"b"}},"required":["k"]}]}`,
			`{"type":"object","properties":{"value":{"anyOf":[` +
				`{"type":"object","properties":{"x":{"type":"integer"},"k":{"type":"string","const":"a"}},"required":["x","k"],"additionalProperties":false},` +
				`{"type":"object","properties":{"x":{"type":"integer"},"k":{"type":"string","const":"b"}},"required":["x","k"],"additionalProperties":false}]}},"required":["value"],"additionalProperties":false}`, false},
		{"allOf is put together",
			`{"allOf":[{"$ref":"#/$defs/A"},{"properties":{"b":{"type":"boolean"}},"required":["b"]}],"$defs":{"A":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}}}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"boolean"}},"required":["a","b"],"additionalProperties":false}`, false},
		{"references stay",
			`{"type":"object","properties":{"t":{"$ref":"#/definitions/T"}},"definitions":{"T":{"type":"object","properties":{"next":{"$ref":"#/definitions/T"}}}}}`,
			`{"type":"object","properties":{"t":{"anyOf":[{"$ref":"#/$defs/d0"},{"type":"null"}]}},"required":["t"],"additionalProperties":false,` +
				`"$defs":{"d0":{"type":"object","properties":{"next":{"anyOf":[{"$ref":"#/$defs/d0"},{"type":"null"}]}},"required":["next"],"additionalProperties":false}}}`, false},
		{"an object with any members is open",
			`{"type":"object","properties":{"m":{"type":"object"}},"required":["m"]}`,
			`{"type":"object","properties":{"m":{"type":"object","properties":{},"required":[],"additionalProperties":true}},"required":["m"],"additionalProperties":false}`, true},
		{"any value is open", `true`,
			`{"type":"object","properties":{"value":{}},"required":["value"],"additionalProperties":false}`, true},
		{"several types", `{"type":"object","properties":{"v":{"type":["object","string"],"properties":{"a":{"type":"null"}}}},"required":["v"]}`,
			`{"type":"object","properties":{"v":{"anyOf":[{"type":"object","properties":{"a":{"type":"null"}},"required":["a"],"additionalProperties":false},{"type":"string"}]}},"required":["v"],"additionalProperties":false}`, false},
		{"alternatives that only restrict are left to the check",
			`{"type":"object","properties":{"a":{"type":"string"}},"anyOf":[{"required":["a"]},{"minProperties":1}]}`,
			`{"type":"object","properties":{"a":{"type":["string","null"]}},"required":["a"],"additionalProperties":false}`, false},
		{"descriptions stay", `{"type":"object","description":"d","properties":{"a":{"type":"string","description":"says \"a\""}},"required":["a"]}`,
			`{"description":"d","type":"object","properties":{"a":{"description":"says \"a\"","type":"string"}},"required":["a"],"additionalProperties":false}`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := llm.Project([]byte(c.schema))
			require.NoError(t, err)
			require.Equal(t, c.want, string(p.Schema))
			require.Equal(t, !c.open, p.Strict)
		})
	}
}

func TestProjectRefusesWhatHasNoProjection(t *testing.T) {
	for name, schema := range map[string]string{
		"no JSON":              `{`,
		"no schema":            `[]`,
		"nothing":              `false`,
		"empty enum":           `{"enum":[]}`,
		"reference to nothing": `{"$ref":"#/$defs/X"}`,
		"reference outside":    `{"$ref":"https://example.com/x.json"}`,
		"endless reference":    `{"$ref":"#"}`,
		"endless pair":         `{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`,
		"too deep":             strings.Repeat(`{"type":"array","items":`, 70) + `{}` + strings.Repeat(`}`, 70),
		"a key twice":          `{"type":"string","type":"object"}`,
	} {
		_, err := llm.Project([]byte(schema))
		require.Error(t, err, name)
		require.ErrorContains(t, err, "llm: project: ", name)
	}
}

func TestProjectionsThatWouldExplodeAreRefused(t *testing.T) {
	var b strings.Builder // each allOf takes the one below twice
	b.WriteString(`{"$ref":"#/$defs/s0","$defs":{`)
	for i := range 30 {
		fmt.Fprintf(&b, `"s%d":{"allOf":[{"$ref":"#/$defs/s%d"},{"properties":{"p%d":{"allOf":[{"$ref":"#/$defs/s%d"}]}}}]},`, i, i+1, i, i+1)
	}
	b.WriteString(`"s30":{"type":"object","properties":{"end":{"type":"string"}}}}}`)
	p, err := llm.Project([]byte(b.String()))
	if err == nil {
		require.LessOrEqual(t, len(p.Schema), 10*b.Len()+256)
	}
}

func TestRestoreUndoesTheProjection(t *testing.T) {
	tree := `{"type":"object","properties":{"name":{"type":"string"},"kids":{"type":"array","items":{"$ref":"#"}}},"required":["name"]}`
	union := `{"anyOf":[
		{"type":"object","properties":{"k":{"const":"a"},"opt":{"type":"string"}},"required":["k"]},
		{"type":"object","properties":{"k":{"const":"b"},"opt":{"type":["string","null"]}},"required":["k","opt"]},
		{"type":"integer"}]}`
	for _, c := range []struct{ name, schema, value, want string }{
		{"null of an optional property", tree, `{"name":"x","kids":null}`, `{"name":"x"}`},
		{"within", tree, `{"name":"x","kids":[{"name":"y","kids":null}]}`, `{"name":"x","kids":[{"name":"y"}]}`},
		{"null of a required property stays", tree, `{"name":null,"kids":null}`, `{"name":null}`},
		{"what is not known stays", tree, `{"name":"x","age":null}`, `{"name":"x","age":null}`},
		{"the alternative that fits decides", union, `{"value":{"k":"a","opt":null}}`, `{"k":"a"}`},
		{"the other keeps its null", union, `{"value":{"k":"b","opt":null}}`, `{"k":"b","opt":null}`},
		{"what fits none stays", union, `{"value":{"k":"c","opt":null}}`, `{"k":"c","opt":null}`},
		{"without the wrapper", union, `{"k":"a","opt":null}`, `{"k":"a"}`},
		{"scalar root", `{"type":"integer"}`, `{"value":12345678901234567890}`, `12345678901234567890`},
		{"numbers and strings as they were written", tree, ` { "name" : "\u0041\/" } `, `{"name":"\u0041\/"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := llm.Project([]byte(c.schema))
			require.NoError(t, err)
			got, err := p.Restore([]byte(c.value))
			require.NoError(t, err)
			require.Equal(t, c.want, string(got))
		})
	}
	p, err := llm.Project([]byte(tree))
	require.NoError(t, err)
	for _, bad := range []string{``, `{`, `{"name":"x"}{}`, `{"name":"x","name":"y"}`, strings.Repeat("[", 100) + strings.Repeat("]", 100)} {
		_, err := p.Restore([]byte(bad))
		require.Error(t, err)
	}
}

func TestRestoreIsBoundedOnAlternativesThatReferToThemselves(t *testing.T) {
	p, err := llm.Project([]byte(`{"anyOf":[{"$ref":"#/$defs/a"},{"type":"null"}],"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"},{"type":"null"}]}}}`))
	require.NoError(t, err)
	_, err = p.Restore([]byte(`"text"`))
	require.Error(t, err)

	p, err = llm.Project([]byte(`{"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[{"$ref":"#/$defs/a"},{"type":"null"}]}}}`))
	require.NoError(t, err)
	got, err := p.Restore([]byte(`"text"`))
	require.NoError(t, err)
	require.Equal(t, `"text"`, string(got), "it fits nothing, and the check sees it")
}

// A schema of the kind that apps have, with a value that fits it, and that
// value as a model writes it under the projection.
type sample struct{ schema, value, written any }

func samples(depth int) *rapid.Generator[sample] {
	leaf := rapid.SampledFrom([]sample{
		{m{"type": "string", "maxLength": 9, "pattern": "^t"}, "text", "text"},
		{m{"type": "integer", "minimum": 0}, 7.0, 7.0},
		{m{"type": "number"}, 1.5, 1.5},
		{m{"type": "boolean"}, true, true},
		{m{"enum": []any{"x", "y"}}, "y", "y"},
		{m{"const": "k"}, "k", "k"},
		{m{"type": []any{"string", "null"}}, nil, nil},
	})
	if depth == 0 {
		return leaf
	}
	sub := samples(depth - 1)
	object := rapid.Custom(func(t *rapid.T) sample {
		props, value, written, required := m{}, m{}, m{}, []any{}
		for _, name := range []string{"a", "b", "ç", "value"}[:rapid.IntRange(1, 4).Draw(t, "props")] {
			s := sub.Draw(t, name)
			props[name] = s.schema
			switch {
			case rapid.Bool().Draw(t, "required"):
				required = append(required, name)
				value[name], written[name] = s.value, s.written
			case rapid.Bool().Draw(t, "present") && s.value != nil:
				value[name], written[name] = s.value, s.written
			default:
				written[name] = nil
			}
		}
		return sample{m{"type": "object", "properties": props, "required": required, "additionalProperties": false}, value, written}
	})
	array := rapid.Custom(func(t *rapid.T) sample {
		s := sub.Draw(t, "items")
		n := rapid.IntRange(0, 3).Draw(t, "n")
		value, written := make([]any, n), make([]any, n)
		for i := range n {
			value[i], written[i] = s.value, s.written
		}
		return sample{m{"type": "array", "items": s.schema, "maxItems": 5}, value, written}
	})
	union := rapid.Custom(func(t *rapid.T) sample {
		s := sub.Draw(t, "branch")
		tagged := func(tag string, of any) m {
			return m{"type": "object", "properties": m{"tag": m{"const": tag}, "of": of}, "required": []any{"tag", "of"}}
		}
		return sample{
			m{"anyOf": []any{tagged("other", m{"type": "string"}), tagged("this", s.schema)}},
			m{"tag": "this", "of": s.value}, m{"tag": "this", "of": s.written},
		}
	})
	return rapid.OneOf(leaf, object, array, union)
}

type m = map[string]any

func mustJSON(t require.TestingT, v any) []byte {
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return b
}

func validates(t require.TestingT, schema []byte, value any) error {
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("mem:x", bytes.NewReader(schema)))
	s, err := c.Compile("mem:x")
	require.NoError(t, err, "%s", schema)
	return s.Validate(value)
}

func TestProjectAndRestoreAreInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := samples(3).Draw(t, "sample")
		schema := mustJSON(t, s.schema)
		p, err := llm.Project(schema)
		require.NoError(t, err)
		require.LessOrEqual(t, len(p.Schema), 10*len(schema)+256)
		require.True(t, p.Strict)

		written := s.written
		if top, ok := s.schema.(m); !ok || top["type"] != "object" {
			written = m{"value": s.written}
		}
		require.NoError(t, validates(t, p.Schema, written), "what a model may write fits the projection")
		got, err := p.Restore(mustJSON(t, written))
		require.NoError(t, err)
		require.JSONEq(t, string(mustJSON(t, s.value)), string(got))
		require.NoError(t, validates(t, schema, s.value))
		checkSmallLanguage(t, p.Schema)
	})
}

// checkSmallLanguage walks a projection and demands of each object what strict
// servers demand.
func checkSmallLanguage(t require.TestingT, schema []byte) {
	allowed := map[string]bool{"type": true, "properties": true, "required": true, "additionalProperties": true, "items": true,
		"minItems": true, "maxItems": true, "enum": true, "const": true, "anyOf": true, "description": true, "$ref": true, "$defs": true}
	var walk func(v any)
	walk = func(v any) {
		s, ok := v.(m)
		require.True(t, ok, "%v", v)
		for k := range s {
			require.True(t, allowed[k], "keyword %s", k)
		}
		if s["type"] == "object" {
			props := s["properties"].(m)
			require.Len(t, s["required"], len(props))
			require.Contains(t, s, "additionalProperties")
			for _, sub := range props {
				walk(sub)
			}
		}
		for _, list := range []any{s["anyOf"]} {
			branches, _ := list.([]any)
			for _, sub := range branches {
				walk(sub)
			}
		}
		if items, ok := s["items"]; ok {
			walk(items)
		}
		defs, _ := s["$defs"].(m)
		for _, sub := range defs {
			walk(sub)
		}
	}
	var v any
	require.NoError(t, json.Unmarshal(schema, &v))
	require.Equal(t, "object", v.(m)["type"])
	walk(v)
}

func FuzzProjectAndRestore(f *testing.F) {
	for _, schema := range []string{
		`{"type":"object","properties":{"a":{"type":"string"}}}`, `{"$ref":"#"}`, `true`, `{"anyOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"enum":[1]}}}`,
		`{"allOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"allOf":[{"$ref":"#/$defs/a"}]}}}`, `{"properties":{"a":{"items":[{},{}]}},"items":{}}`,
		`{"type":"array","items":{"oneOf":[{"type":"object"},{"const":null}]},"minItems":-1}`,
	} {
		f.Add([]byte(schema), []byte(`{"value":{"a":null}}`))
	}
	f.Fuzz(func(t *testing.T, schema, value []byte) {
		p, err := llm.Project(schema)
		if err != nil {
			require.Nil(t, p)
			return
		}
		require.LessOrEqual(t, len(p.Schema), 10*len(schema)+256)
		checkSmallLanguage(t, p.Schema)
		restored, err := p.Restore(value)
		if err != nil {
			require.Nil(t, restored)
			return
		}
		require.True(t, json.Valid(restored))
		require.LessOrEqual(t, len(restored), len(value))
	})
}
