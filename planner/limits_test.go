package planner_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/planner"
)

// TestPlansMadeInGoHaveTheSameLimits: a plan need not come out of DecodePlan.
func TestPlansMadeInGoHaveTheSameLimits(t *testing.T) {
	decide := func(d planner.Decide) *planner.Plan {
		return &planner.Plan{Steps: []planner.Step{{ID: "a", Do: d}}, Answer: planner.Ref{Step: "a"}}
	}
	text := planner.Shape{Type: planner.ShapeString}
	var endless planner.Array = make([]planner.Value, 2)
	endless[0], endless[1] = endless, endless
	loop := &planner.Shape{Type: planner.ShapeArray, MaxItems: 1}
	loop.Items = loop
	var guard planner.Guard = planner.Present{Ref: planner.Ref{Step: "a"}}
	for range 40 {
		guard = planner.Not{Of: guard}
	}
	for name, p := range map[string]*planner.Plan{
		"steps":        {Steps: make([]planner.Step, planner.MaxSteps+1), Answer: planner.Ref{}},
		"parts":        decide(planner.Decide{Question: "q", Inputs: make([]planner.Value, 300), Answer: text}),
		"text":         decide(planner.Decide{Question: strings.Repeat("x", 9000), Answer: text}),
		"endless":      decide(planner.Decide{Question: "q", Inputs: []planner.Value{endless}, Answer: text}),
		"shape":        decide(planner.Decide{Question: "q", Answer: *loop}),
		"max items":    decide(planner.Decide{Question: "q", Answer: planner.Shape{Type: planner.ShapeArray, MaxItems: 5000, Items: &text}}),
		"deep literal": decide(planner.Decide{Question: "q", Inputs: []planner.Value{planner.Literal{JSON: json.RawMessage(strings.Repeat("[", 30) + strings.Repeat("]", 30))}}, Answer: text}),
		"guard":        {Steps: []planner.Step{{ID: "a", When: guard, Do: planner.Decide{Question: "q", Answer: text}}}, Answer: planner.Ref{Step: "a"}},
		"bound":        {Steps: []planner.Step{{ID: "a", Do: planner.Delegate{Task: "t", AtMost: -4}}}, Answer: planner.Ref{Step: "a"}},
		"may":          {Steps: []planner.Step{{ID: "a", Do: planner.Delegate{Task: "t", AtMost: 4, May: make([]string, 300)}}}, Answer: planner.Ref{Step: "a"}},
	} {
		t.Run(name, func(t *testing.T) {
			checked, problems := p.Validate(rideCatalogue(t), planner.ValidateInput{})
			require.Nil(t, checked)
			require.Equal(t, planner.CodeTooLarge, problems[0].Code, problems[0])
		})
	}
}

// TestLiteralContainersAreTakenApart: a literal array or object is checked like
// one that was written in parts.
func TestLiteralContainersAreTakenApart(t *testing.T) {
	raw := func(s string) planner.Value { return planner.Literal{JSON: json.RawMessage(s)} }
	p := &planner.Plan{
		Steps: []planner.Step{{ID: "s", Do: planner.Call{Functionality: "mail.send", Args: map[string]planner.Value{
			"to": raw(`"bob"`), "body": raw(`"x"`), "cc": raw(`["ann", 7]`),
		}}}},
		Answer: raw(`{"sent":true}`),
	}
	_, problems := p.Validate(rideCatalogue(t), planner.ValidateInput{})
	require.Len(t, problems, 1, "%v", problems)
	require.Equal(t, "/args/cc/1", problems[0].Pointer)
	encoded, err := json.Marshal(p)
	require.NoError(t, err)
	require.Contains(t, string(encoded), `"answer":{"object":{"sent":true}}`)
	require.Contains(t, string(encoded), `"cc":["ann",7]`)
}

func TestWhatCannotBeWrittenIsAnError(t *testing.T) {
	for name, p := range map[string]*planner.Plan{
		"no answer":  {},
		"no action":  {Steps: []planner.Step{{ID: "a"}}, Answer: planner.Ref{Step: "a"}},
		"no JSON":    {Answer: planner.Literal{JSON: json.RawMessage("{")}},
		"empty":      {Answer: planner.Literal{}},
		"no pick":    {Steps: []planner.Step{{ID: "a", Do: planner.Ask{Question: planner.Ref{}, Answer: planner.Shape{Type: planner.ShapePick}}}}, Answer: planner.Ref{}},
		"no items":   {Steps: []planner.Step{{ID: "a", Do: planner.Decide{Answer: planner.Shape{Type: planner.ShapeArray}}}}, Answer: planner.Ref{}},
		"no guard":   {Steps: []planner.Step{{ID: "a", When: planner.Not{}, Do: planner.Decide{Answer: planner.Shape{Type: planner.ShapeString}}}}, Answer: planner.Ref{}},
		"bad array":  {Answer: planner.Array{nil}},
		"bad object": {Answer: planner.Object{Fields: map[string]planner.Value{"x": nil}}},
	} {
		_, err := json.Marshal(p)
		require.ErrorContains(t, err, "planner: encode plan: ", name)
	}
}

func TestPlanUnmarshalsFromJSON(t *testing.T) {
	var p planner.Plan
	require.NoError(t, json.Unmarshal([]byte(goodPlan), &p))
	require.Len(t, p.Steps, 1)
	require.Error(t, json.Unmarshal([]byte(`{"steps":[{}]}`), &p))
}
