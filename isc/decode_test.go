package isc_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestCanonicalForm(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"spaces", " { \"a\" : [ 1 , 2 ] }\r\n\t", `{"a":[1,2]}`},
		{"keys in order", `{"b":{"d":1,"c":2},"a":3}`, `{"a":3,"b":{"c":2,"d":1}}`},
		{"prefix sorts first", `{"a\"":1,"a":2,"":3}`, `{"":3,"a":2,"a\"":1}`},
		{"order is that of the bytes, not of the escapes", `{"\n":1,"b":2,"B":3}`, ""},
		{"number literals stay", `[1.0,-0,1e5,1E+5,0.10,123456789012345678901234567890]`, `[1.0,-0,1e5,1E+5,0.10,123456789012345678901234567890]`},
		{"fewest escapes", `["\u0041\/\u00e9\u2028","\u001f\b\f\n\r\t\"\\"]`, "[\"A/é\u2028\",\"\\u001f\\b\\f\\n\\r\\t\\\"\\\\\"]"},
		{"surrogate pairs", `"\ud83d\ude00\uD83D\uDE00"`, `"😀😀"`},
		{"html stays", `"<a&b>"`, `"<a&b>"`},
		{"literals", `[true,false,null,{},[]]`, `[true,false,null,{},[]]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := isc.Canonical([]byte(c.in))
			if c.want == "" {
				require.Error(t, err, "b and B differ by case only")
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, string(got))
		})
	}
}

func TestB3TwoParsersCannotDisagree(t *testing.T) {
	many := `{"k":1`
	for i := range 100 {
		many += `,"m` + strings.Repeat("x", i) + `":1`
	}
	for name, in := range map[string]string{
		"same key":             `{"amount":1,"amount":2}`,
		"same key escaped":     `{"amount":1,"\u0061mount":9}`,
		"case":                 `{"amount":1,"Amount":9999}`,
		"long s":               `{"version":1,"verſion":2}`,
		"kelvin":               `{"key":1,"` + "\u212A" + `ey":2}`,
		"greek sigma":          `{"σ":1,"ς":2}`,
		"nested":               `[{"a":{"b":1,"B":2}}]`,
		"many, same":           many + `,"k":2}`,
		"many, case":           many + `,"K":2}`,
		"many, kelvin":         many + `,"` + "\u212A" + `":2}`,
		"lone high surrogate":  `"\ud800"`,
		"lone low surrogate":   `"\udc00"`,
		"high, then no low":    `"\ud800\u0041"`,
		"high, then high":      `"\ud800\ud800"`,
		"surrogate in a key":   `{"\ud800":1}`,
		"raw surrogate":        "\"\xed\xa0\x80\"",
		"invalid UTF-8":        "\"\xff\"",
		"overlong":             "\"\xc0\xaf\"",
		"invalid UTF-8 in key": "{\"\xff\":1}",
		"byte order mark":      "\ufeff{}",
		"trailing value":       `{} {}`,
		"trailing comma":       `[1,]`,
		"trailing garbage":     `1 x`,
		"comment":              `[1/**/]`,
		"NaN":                  `NaN`,
		"Infinity":             `[Infinity]`,
		"leading zero":         `01`,
		"plus":                 `+1`,
		"bare point":           `.5`,
		"open point":           `1.`,
		"open exponent":        `1e`,
		"hex":                  `0x1`,
		"single quotes":        `{'a':1}`,
		"bare key":             `{a:1}`,
		"control in string":    "\"a\nb\"",
		"nul in string":        "\"\x00\"",
		"bad escape":           `"\x41"`,
		"short unicode escape": `"\u00g1"`,
		"cut":                  `{"a":`,
		"cut string":           `"abc`,
		"cut escape":           `"\`,
		"empty":                ``,
		"blank":                " \n",
		"form feed":            "\f1",
		"no-break space":       "\u00a01",
		"case of true":         `True`,
		"truex":                `truex`,
	} {
		t.Run(name, func(t *testing.T) {
			out, err := isc.Canonical([]byte(in))
			require.ErrorIs(t, err, isc.ErrMalformed)
			require.Nil(t, out)
		})
	}
}

func TestB8BombsAreRefusedQuickly(t *testing.T) {
	f := isc.MustFormat(`{"type":"array","items":{"anyOf":[{"type":"integer","multipleOf":2},{"type":"string"},{"$ref":"#"}]}}`)
	for name, in := range map[string]string{
		"50 MB string":          `"` + strings.Repeat("a", 50<<20) + `"`,
		"deep arrays":           strings.Repeat("[", 9000) + strings.Repeat("]", 9000),
		"deep objects":          strings.Repeat(`{"a":`, 9000) + "1" + strings.Repeat("}", 9000),
		"deep, never closed":    strings.Repeat("[", 1<<20),
		"exponent":              `1e2000000`,
		"zero with an exponent": `0e2000000`,
		"negative exponent":     `1e-10000000`,
		"exponent of digits":    `1e` + strings.Repeat("9", 50),
		"many digits":           strings.Repeat("9", 10_000),
		"beyond float64":        `1e400`,
		"200k invalid items":    `[` + strings.Repeat(`1,`, 200_000) + `1]`,
		"many keys":             `{` + strings.Repeat(`"a":1,`, 100_000) + `"a":1}`,
		"many empty objects":    `[` + strings.Repeat(`{},`, 200_000) + `{}]`,
	} {
		t.Run(name, func(t *testing.T) {
			body := []byte(in)
			start := time.Now()
			_, err := f.Check(body)
			require.Less(t, time.Since(start), 300*time.Millisecond) // some 10 ms where nothing else runs
			require.ErrorIs(t, err, isc.ErrMalformed)
		})
	}
}

func TestErrorsHoldNothingOfTheMessage(t *testing.T) {
	const secret = "hunter2"
	f := isc.MustFormat(`{"type":"object","additionalProperties":false,"properties":{
		"a":{"type":"string","maxLength":3,"format":"date"},"n":{"type":"integer","maximum":5},"e":{"enum":["x","y"]},
		"o":{"patternProperties":{"^h":{"type":"null"}},"propertyNames":{"maxLength":2}},
		"l":{"type":"array","uniqueItems":true,"items":{"const":1}}}}`)
	for _, body := range []string{
		`{"a":"hunter2"}`, `{"hunter2":1}`, `{"e":"hunter2"}`, `{"o":{"hunter2":1}}`, `{"n":"hunter2"}`,
		`{"l":["hunter2","hunter2"]}`, `{"hunter2":1,"hunter2":2}`, `{"a":"hunter2`, `"hunter2"x`, `hunter2`,
	} {
		_, err := f.Check([]byte(body))
		require.Error(t, err)
		require.NotContains(t, err.Error(), secret)
		var v struct {
			A int `json:"a"`
		}
		err = isc.Unmarshal([]byte(body), &v)
		require.Error(t, err, body)
		require.NotContains(t, err.Error(), secret)
	}
}

// jsonValue draws JSON texts, as many ways to write one value as there are.
func jsonValue() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string { return drawJSON(t, 3) })
}

func drawJSON(t *rapid.T, depth int) string {
	kinds := 5
	if depth > 0 {
		kinds = 7
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return rapid.SampledFrom([]string{"null", "true", "false"}).Draw(t, "literal")
	case 1:
		return rapid.StringMatching(`-?(0|[1-9][0-9]{0,12})(\.[0-9]{1,6})?([eE][+-]?[0-9]{1,2})?`).Draw(t, "number")
	case 5:
		var items []string
		for range rapid.IntRange(0, 4).Draw(t, "length") {
			items = append(items, drawJSON(t, depth-1))
		}
		return "[ " + strings.Join(items, " ,") + "]"
	case 6:
		var items []string
		for _, key := range rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z0-9"\\ é]{0,6}`), 0, 5, rapid.ID[string]).Draw(t, "keys") {
			items = append(items, drawString(t, key)+": "+drawJSON(t, depth-1))
		}
		return "{" + strings.Join(items, ", ") + "\n}"
	}
	return drawString(t, rapid.String().Draw(t, "string"))
}

// drawString writes s as the standard library does, with or without escapes.
func drawString(t *rapid.T, s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(rapid.Bool().Draw(t, "escape"))
	if e.Encode(s) != nil {
		return `""`
	}
	return strings.TrimSpace(b.String())
}

func TestCanonicalIsOneFormOfOneValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := jsonValue().Draw(t, "text")
		out, err := isc.Canonical([]byte(text))
		if err != nil {
			require.ErrorIs(t, err, isc.ErrMalformed)
			return
		}
		again, err := isc.Canonical(out)
		require.NoError(t, err)
		require.Equal(t, out, again, "idempotent")
		var a, b any
		require.NoError(t, numbers(text, &a))
		require.NoError(t, numbers(string(out), &b))
		require.Equal(t, a, b, "the same value, digit for digit")
		raw, err := json.MarshalIndent(a, " ", "  ")
		require.NoError(t, err)
		other, err := isc.Canonical(raw)
		require.NoError(t, err)
		require.Equal(t, string(out), string(other), "however it is written")
	})
}

func numbers(text string, v *any) error {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	return d.Decode(v)
}

func TestUnmarshalIsStrict(t *testing.T) {
	type inner struct {
		X int `json:"x"`
	}
	type base struct {
		B string `json:"b"`
	}
	type outer struct {
		base
		Name  string           `json:"name"`
		Body  json.RawMessage  `json:"body,omitempty"`
		List  []inner          `json:"list"`
		Map   map[string]inner `json:"map"`
		Ptr   *inner           `json:"ptr"`
		When  time.Time        `json:"when"`
		ID    isc.AppID        `json:"id"`
		Fmt   *isc.Format      `json:"fmt"`
		Any   any              `json:"any"`
		Skip  string           `json:"-"`
		Plain bool
	}
	var v outer
	require.NoError(t, isc.Unmarshal([]byte(`{"name":"n","b":"y","body":{"z":1, "a":[ 2 ]},"list":[{"x":1}],"map":{"Q":{"x":2}},
		"ptr":null,"when":"2026-01-30T10:00:00Z","id":"mail","fmt":{"type":"string"},"any":{"free":1},"Plain":true}`), &v))
	require.JSONEq(t, `{"a":[2],"z":1}`, string(v.Body))
	require.Equal(t, `{"a":[2],"z":1}`, string(v.Body), "canonical")
	require.Equal(t, "y", v.B)
	for name, bad := range map[string]string{
		"unknown":            `{"nope":1}`,
		"case":               `{"Name":"x"}`,
		"case of untagged":   `{"plain":true}`,
		"unknown in list":    `{"list":[{"x":1,"y":2}]}`,
		"case in list":       `{"list":[{"X":1}]}`,
		"unknown in map":     `{"map":{"k":{"y":1}}}`,
		"unknown in pointer": `{"ptr":{"y":1}}`,
		"skipped":            `{"Skip":"x"}`,
		"dash":               `{"-":"x"}`,
		"null string":        `{"name":null}`,
		"null in list":       `{"list":[null]}`,
		"null id":            `{"id":null}`,
		"bad id":             `{"id":"hub"}`,
		"bad format":         `{"fmt":{"type":"no"}}`,
		"kind":               `{"name":1}`,
		"array for struct":   `[]`,
		"null":               `null`,
		"overflow":           `{"list":[{"x":1e30}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			var v outer
			require.ErrorIs(t, isc.Unmarshal([]byte(bad), &v), isc.ErrMalformed)
		})
	}
}

func TestPointers(t *testing.T) {
	doc := []byte(`{"a":{"b~/":[1,2]},"list":[{"n":1},{"n":2},{"m":3},{"n":[4,5]}],"m":{"z":{"v":1},"y":{"v":2}},"0":"zero","":"empty"}`)
	for pointer, want := range map[string]string{
		"/a/b~0~1": "[1,2]", "/list/1/n": "2", "/0": `"zero"`, "/": `"empty"`, "/list/3/n/1": "5",
	} {
		got, ok := isc.Get(doc, pointer)
		require.True(t, ok, pointer)
		require.Equal(t, want, string(got))
	}
	for _, pointer := range []string{"a", "/x", "/list/4", "/list/-1", "/list/01", "/list/-", "/a/b~2", "/a/b~", "/0/x"} {
		_, ok := isc.Get(doc, pointer)
		require.False(t, ok, pointer)
	}
	_, ok := isc.Get([]byte(`{"a":1,"A":2}`), "/a")
	require.False(t, ok)

	for pointer, want := range map[string][]string{
		"": {string(must(isc.Canonical(doc)))}, "/list/*/n": {"1", "2", "[4,5]"}, "/m/*/v": {"2", "1"},
		"/list/*/n/*": {"4", "5"}, "/a/b~0~1/*": {"1", "2"}, "/0": {`"zero"`}, "/nope": nil, "/list/*/nope": nil,
	} {
		got, err := isc.Select(doc, pointer)
		require.NoError(t, err, pointer)
		require.Equal(t, want, texts(got), pointer)
	}
	for _, pointer := range []string{"/list/0", "/list/-", "a", "/a~3"} {
		_, err := isc.Select(doc, pointer)
		require.Error(t, err, pointer)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func texts(list []json.RawMessage) []string {
	var out []string
	for _, r := range list {
		out = append(out, string(r))
	}
	return out
}
