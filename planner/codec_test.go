package planner_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/planner"
)

// everything is a plan with every construct of the language.
const everything = `{"answer":{"template":["Paid ",{"pointer":"/amount","step":"pay"}," on ",{"memory":"today"}]},"replan":1,"steps":[
{"args":{},"do":"call","functionality":"tx.list","id":"tx"},
{"do":"where","field":"/kind","from":{"pointer":"","step":"tx"},"id":"rents","op":"eq","value":"rent"},
{"do":"best","field":"/date","from":{"pointer":"","step":"rents"},"id":"last","most":"latest"},
{"do":"decide","format":{"fields":{"amount":{"type":"number"},"names":{"items":{"found":true,"type":"string"},"max_items":5,"type":"array"},"row":{"nullable":true,"pick":{"pointer":"","step":"tx"}},"why":{"enum":["a","b"],"type":"string"},"when":{"format":"date","type":"string"}},"type":"object"},"id":"pay","inputs":[{"pointer":"/*/subject","step":"tx"},{"memory":"home"}],"question":"Which?","spoke":"careful"},
{"do":"ask","format":{"nullable":true,"type":"integer"},"id":"sure","question":{"template":["Pay ",{"pointer":"/amount","step":"pay"},"?"]}},
{"app":"bank","args":{"a":[1,{"item":"/x"},[true,null]],"o":{"object":{"k":{"one":true,"pointer":"/*/y","step":"tx"}}}},"at_most":3,"do":"call","each":{"pointer":"/names","step":"pay"},"functionality":"pay.send","id":"sent","when":{"of":[{"a":{"pointer":"","step":"sure"},"op":"present"},{"of":[{"a":1,"b":2.5,"op":"lt"},{"a":"x","b":["x","y"],"op":"in"}],"op":"or"},{"of":[{"a":true,"b":false,"op":"ne"}],"op":"not"}],"op":"and"}},
{"app":"mail","at_most":4,"do":"delegate","id":"rest","inputs":[{"pointer":"","step":"pay"}],"may":["tx.list"],"open_ended":true,"task":"Do what it says."}]}`

func TestDecodeEncodeIsIdentity(t *testing.T) {
	want, err := isc.Canonical([]byte(everything))
	require.NoError(t, err)
	p, err := planner.DecodePlan([]byte(everything))
	require.NoError(t, err)
	got, err := json.Marshal(p)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
	require.Len(t, p.Steps, 7)
}

func TestDecodePlanRefuses(t *testing.T) {
	step := func(s string) string { return `{"steps":[` + s + `],"answer":"x"}` }
	for name, c := range map[string]struct{ raw, want string }{
		"prose":                {`I would call the fare app.`, "not strict JSON"},
		"an array":             {`[]`, "not an object"},
		"cut off":              {`{"steps":[`, "not strict JSON"},
		"a key twice":          {`{"steps":[],"steps":[],"answer":"x"}`, "not strict JSON"},
		"no answer":            {`{"steps":[]}`, `"answer" is missing`},
		"unknown key":          {`{"steps":[],"answer":"x","apps":[]}`, `unknown key "apps"`},
		"unknown step key":     {step(`{"id":"a","do":"decide","question":"q","tool":1}`), `step a: unknown key "tool"`},
		"unknown action":       {step(`{"id":"a","do":"run"}`), `"run" is none of`},
		"no action":            {step(`{"id":"a"}`), `"do" is missing`},
		"no functionality":     {step(`{"id":"a","do":"call"}`), `"functionality" is missing`},
		"bare object value":    {step(`{"id":"a","do":"call","functionality":"f","args":{"x":{"y":1}}}`), "/args/x: an object must be one of"},
		"value of two forms":   {step(`{"id":"a","do":"call","functionality":"f","args":{"x":{"memory":"m","item":""}}}`), `/args/x: unknown key "item"`},
		"template in template": {step(`{"id":"a","do":"call","functionality":"f","args":{"x":{"template":[{"template":[]}]}}}`), "a part must be"},
		"number in template":   {step(`{"id":"a","do":"call","functionality":"f","args":{"x":{"template":[1]}}}`), "a part must be"},
		"unknown operator":     {step(`{"id":"a","do":"decide","question":"q","when":{"op":"like","a":1,"b":2}}`), `"like" is none of`},
		"empty and":            {step(`{"id":"a","do":"decide","question":"q","when":{"op":"and","of":[]}}`), "/when/of: empty"},
		"not of two":           {step(`{"id":"a","do":"decide","question":"q","when":{"op":"not","of":[{"op":"eq","a":1,"b":1},{"op":"eq","a":1,"b":1}]}}`), "exactly one"},
		"negative bound":       {step(`{"id":"a","do":"call","functionality":"f","at_most":-1}`), "not a whole number"},
		"huge bound":           {step(`{"id":"a","do":"call","functionality":"f","at_most":100000}`), "not a whole number"},
		"unknown shape":        {step(`{"id":"a","do":"decide","question":"q","format":{"type":"blob"}}`), `"blob" is none of`},
		"pick with a type":     {step(`{"id":"a","do":"decide","question":"q","format":{"type":"string","pick":{"step":"b"}}}`), `unknown key "type"`},
		"text for a flag":      {step(`{"id":"a","do":"delegate","task":"t","open_ended":"yes"}`), "not true or false"},
		"long text":            {step(`{"id":"a","do":"decide","question":"` + strings.Repeat("x", 9000) + `"}`), "over 8192 bytes"},
		"too long":             {`"` + strings.Repeat("x", 70000) + `"`, "over 65536 bytes"},
		"too many steps":       {step(strings.Repeat(`{"id":"a","do":"decide","question":"q"},`, planner.MaxSteps) + `{"id":"a","do":"decide","question":"q"}`), "over 128 steps"},
		"too deep":             {`{"steps":[],"answer":` + strings.Repeat("[", 20) + strings.Repeat("]", 20) + `}`, "nested more than 16 deep"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := planner.DecodePlan([]byte(c.raw))
			require.ErrorContains(t, err, c.want)
			require.Nil(t, p)
			_, ok := errors.AsType[*planner.DecodeError](err)
			require.True(t, ok)
		})
	}
}

func TestDecodePlanReportsAllAtOnce(t *testing.T) {
	_, err := planner.DecodePlan([]byte(`{"steps":[{"id":"a","do":"run"},{"id":"b","do":"call","x":1}],"y":2}`))
	bad, ok := errors.AsType[*planner.DecodeError](err)
	require.True(t, ok)
	require.Len(t, bad.Problems, 5, "%v", bad)
}

func TestNullStandsForLeftOut(t *testing.T) {
	p, err := planner.DecodePlan([]byte(`{"steps":[{"id":"a","do":"call","functionality":"f","app":null,"args":{"x":null},"each":null,"at_most":null,"when":null}],"answer":{"step":"a","pointer":"","one":null},"replan":null}`))
	require.NoError(t, err)
	require.Equal(t, planner.Call{Functionality: "f", Args: map[string]planner.Value{"x": planner.Literal{JSON: json.RawMessage("null")}}}, p.Steps[0].Do)
}

// TestOtherWordsForACall: models decide by "do" what keys follow.
func TestOtherWordsForACall(t *testing.T) {
	p, err := planner.DecodePlan([]byte(`{"steps":[
		{"id":"a","do":"call_each","functionality":"f","each":{"step":"b","pointer":""},"at_most":2,"args":{}},
		{"id":"c","do":"call_if","functionality":"f","when":{"op":"eq","a":1,"b":1},"args":{}}],"answer":{"step":"a","pointer":""}}`))
	require.NoError(t, err)
	raw, err := json.Marshal(p)
	require.NoError(t, err)
	require.Equal(t, 2, strings.Count(string(raw), `"do":"call"`))
	_, err = planner.DecodePlan([]byte(`{"steps":[{"id":"a","do":"call_each","functionality":"f","at_most":2,"args":{}}],"answer":{"step":"a","pointer":""}}`))
	require.ErrorContains(t, err, `"each" is missing`)
}

func TestAnyPlanEncodesToWhatDecodesToIt(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := drawPlan(rt)
		raw, err := json.Marshal(p)
		require.NoError(rt, err)
		q, err := planner.DecodePlan(raw)
		require.NoError(rt, err, string(raw))
		require.Equal(rt, p, q)
	})
}

func drawPlan(t *rapid.T) *planner.Plan {
	p := &planner.Plan{Replan: rapid.IntRange(0, planner.MaxReplan).Draw(t, "replan"), Answer: drawSomething(t, 2)}
	for range rapid.IntRange(0, 6).Draw(t, "steps") {
		p.Steps = append(p.Steps, drawStep(t))
	}
	return p
}

func drawStep(t *rapid.T) planner.Step {
	s := planner.Step{ID: word(t)}
	if rapid.Bool().Draw(t, "guarded") {
		s.When = drawGuard(t, 2)
	}
	switch rapid.IntRange(0, 5).Draw(t, "do") {
	case 0:
		c := planner.Call{Functionality: word(t), App: isc.AppID(maybe(t)), Args: drawMembers(t, 2), AtMost: rapid.IntRange(0, 9).Draw(t, "n")}
		if rapid.Bool().Draw(t, "each") {
			r := drawRef(t)
			c.Each = &r
		}
		s.Do = c
	case 1:
		s.Do = planner.Delegate{App: isc.AppID(maybe(t)), Task: word(t), Inputs: drawValues(t, 2), May: drawWords(t), AtMost: 3, OpenEnded: rapid.Bool().Draw(t, "open")}
	case 2:
		s.Do = planner.Decide{Question: word(t), Inputs: drawValues(t, 2), Answer: drawShape(t, 2), Spoke: maybe(t)}
	case 3:
		s.Do = planner.Where{From: drawRef(t), Field: "/" + word(t), Op: planner.Op(rapid.IntRange(1, 7).Draw(t, "op")), Value: drawValue(t, 1)}
	case 4:
		s.Do = planner.Best{From: drawRef(t), Field: "/" + word(t), Most: planner.Extreme(rapid.IntRange(1, 4).Draw(t, "most"))}
	default:
		s.Do = planner.Ask{Question: drawSomething(t, 0), Answer: drawShape(t, 1)}
	}
	return s
}

func word(t *rapid.T) string { return rapid.StringMatching(`[a-z][a-z0-9/~_]{0,8}`).Draw(t, "word") }
func maybe(t *rapid.T) string {
	return rapid.SampledFrom([]string{"", "app-a", "app-b"}).Draw(t, "maybe")
}

func drawWords(t *rapid.T) []string {
	var out []string
	for range rapid.IntRange(0, 2).Draw(t, "words") {
		out = append(out, word(t))
	}
	return out
}

func drawRef(t *rapid.T) planner.Ref {
	return planner.Ref{Step: word(t), Pointer: rapid.SampledFrom([]string{"", "/a", "/*/b"}).Draw(t, "ptr"), One: rapid.Bool().Draw(t, "one")}
}

func drawValues(t *rapid.T, depth int) []planner.Value {
	var out []planner.Value
	for range rapid.IntRange(0, 3).Draw(t, "values") {
		out = append(out, drawValue(t, depth))
	}
	return out
}

func drawMembers(t *rapid.T, depth int) map[string]planner.Value {
	out := map[string]planner.Value{}
	for range rapid.IntRange(0, 3).Draw(t, "members") {
		out[word(t)] = drawValue(t, depth)
	}
	return out
}

func drawValue(t *rapid.T, depth int) planner.Value {
	most := 7
	if depth == 0 {
		most = 4
	}
	switch rapid.IntRange(0, most).Draw(t, "value") {
	case 0, 1:
		l := rapid.SampledFrom([]string{`null`, `true`, `-12`, `2.5`, `"x \u0000"`, `"<&>"`, `"step"`}).Draw(t, "literal")
		raw, err := isc.Canonical([]byte(l))
		require.NoError(t, err)
		return planner.Literal{JSON: raw}
	case 2:
		return drawRef(t)
	case 3:
		return planner.Memory{Key: word(t)}
	case 4:
		return planner.Item{Pointer: rapid.SampledFrom([]string{"", "/a"}).Draw(t, "item")}
	case 5:
		var parts []planner.Value
		for range rapid.IntRange(0, 3).Draw(t, "parts") {
			parts = append(parts, rapid.SampledFrom([]planner.Value{planner.Literal{JSON: json.RawMessage(`"and"`)}, drawRef(t), planner.Memory{Key: "today"}, planner.Item{}}).Draw(t, "part"))
		}
		return planner.Template{Parts: parts}
	case 6:
		return planner.Object{Fields: drawMembers(t, depth-1)}
	default:
		return append(planner.Array{}, drawValues(t, depth-1)...)
	}
}

// drawSomething is a value that is not null.
func drawSomething(t *rapid.T, depth int) planner.Value {
	v := drawValue(t, depth)
	if l, ok := v.(planner.Literal); ok && string(l.JSON) == "null" {
		return planner.Memory{Key: "today"}
	}
	return v
}

func drawGuard(t *rapid.T, depth int) planner.Guard {
	most := 4
	if depth == 0 {
		most = 1
	}
	switch rapid.IntRange(0, most).Draw(t, "guard") {
	case 0:
		return planner.Present{Ref: drawRef(t)}
	case 1:
		return planner.Compare{Op: planner.Op(rapid.IntRange(1, 7).Draw(t, "op")), A: drawValue(t, 1), B: drawValue(t, 1)}
	case 2:
		return planner.Not{Of: drawGuard(t, depth-1)}
	case 3:
		return planner.And{Of: []planner.Guard{drawGuard(t, depth-1), drawGuard(t, depth-1)}}
	default:
		return planner.Or{Of: []planner.Guard{drawGuard(t, depth-1)}}
	}
}

func drawShape(t *rapid.T, depth int) planner.Shape {
	most := 5
	if depth == 0 {
		most = 3
	}
	nullable := rapid.Bool().Draw(t, "nullable")
	switch rapid.IntRange(0, most).Draw(t, "shape") {
	case 0:
		return planner.Shape{Type: planner.ShapeBoolean, Nullable: nullable}
	case 1:
		return planner.Shape{Type: planner.ShapeNumber, Nullable: nullable}
	case 2:
		return planner.Shape{Type: planner.ShapeString, Enum: drawWords(t), Format: rapid.SampledFrom([]string{"", "date"}).Draw(t, "f"), Found: rapid.Bool().Draw(t, "found"), Nullable: nullable}
	case 3:
		r := drawRef(t)
		return planner.Shape{Type: planner.ShapePick, Pick: &r, Nullable: nullable}
	case 4:
		item := drawShape(t, depth-1)
		return planner.Shape{Type: planner.ShapeArray, Items: &item, MaxItems: rapid.IntRange(0, 9).Draw(t, "n"), Nullable: nullable}
	default:
		return planner.Shape{Type: planner.ShapeObject, Fields: map[string]planner.Shape{word(t): drawShape(t, depth-1)}, Nullable: nullable}
	}
}

func FuzzDecodePlan(f *testing.F) {
	f.Add([]byte(everything))
	f.Add([]byte(`{"steps":[],"answer":"x"}`))
	f.Add([]byte(`{"steps":[{"id":"a","do":"call","functionality":"fare.get","args":{"from":1e999}}],"answer":{"step":"a","pointer":"/0"}}`))
	cat := rideCatalogue(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, err := planner.DecodePlan(raw)
		if err != nil {
			require.Nil(t, p)
			return
		}
		again, err := json.Marshal(p)
		require.NoError(t, err)
		if len(again) > planner.MaxPlan {
			return // what was left out is now written out
		}
		q, err := planner.DecodePlan(again)
		require.NoError(t, err)
		require.Equal(t, p, q)
		checked, problems := p.Validate(cat, planner.ValidateInput{MemoryKeys: []string{"home"}})
		require.Equal(t, len(problems) > 0, checked == nil)
		require.Equal(t, q, p, "Validate must not change the plan")
		if checked != nil {
			_, problems = checked.Plan().Validate(cat, planner.ValidateInput{MemoryKeys: []string{"home"}})
			require.Empty(t, problems, "what is checked is valid")
		}
	})
}
