package planner_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/planner"
)

const fareThenNote = `{"steps":[
	{"id":"s1","do":"call","functionality":"ride.fare","app":"metro-hail","args":{"from":"a <b>","to":"b"}},
	{"id":"s2","do":"call","functionality":"note.write","args":{"name":"fare","text":{"template":["It is ",{"step":"s1","pointer":"/fare"}," at ",{"memory":"home"}]}}},
	{"id":"s3","do":"call","functionality":"weather.day","args":{}}],
	"answer":{"step":"s2","pointer":"/ok"}}`

func planChecked(t *testing.T, in planner.Input) *planner.Checked {
	t.Helper()
	r := &recorder{answers: map[string]func(int, *llm.Request) (string, error){"plan": replies(fareThenNote)}}
	checked, err := newPlanner(t, planner.Config{LLM: r}).PlanChecked(t.Context(), in)
	require.NoError(t, err)
	return checked
}

func TestPlanCheckedIsPlanAndValidateInOne(t *testing.T) {
	in := planner.Input{Query: "Note the fare.", Catalogue: rideCatalogue(t), MemoryKeys: []string{"home"}}
	checked := planChecked(t, in)
	want, problems := decode(t, fareThenNote).Validate(in.Catalogue, planner.ValidateInput{MemoryKeys: in.MemoryKeys})
	require.Empty(t, problems)

	require.Equal(t, marshal(t, want.Plan()), marshal(t, checked.Plan()))
	require.Equal(t, want.Flows(), checked.Flows())
	require.Equal(t, want.Edges(), checked.Edges())
	require.Equal(t, want.Notes(), checked.Notes())
	require.Equal(t, want.Primary(), checked.Primary())
	require.Equal(t, want.Secondary(), checked.Secondary())
}

func TestACheckedPlanIsForTheCatalogueAndKeysItWasCheckedWithAlone(t *testing.T) {
	in := planner.Input{Query: "Note the fare.", Catalogue: rideCatalogue(t), MemoryKeys: []string{"home"}}
	checked := planChecked(t, in)
	require.True(t, checked.For(in.Catalogue, []string{"home"}))
	require.False(t, checked.For(rideCatalogue(t), []string{"home"}), "an equal catalogue is another one")
	require.False(t, checked.For(nil, []string{"home"}))
	require.False(t, checked.For(in.Catalogue, nil))
	require.False(t, checked.For(in.Catalogue, []string{"home", "work"}))

	in.MemoryKeys[0] = "work"
	require.True(t, checked.For(in.Catalogue, []string{"home"}), "the keys are a copy")
	require.False(t, (&planner.Checked{}).For(nil, nil))
	require.False(t, (*planner.Checked)(nil).For(nil, nil))
}

func TestWhatACheckedPlanGivesOutIsACopy(t *testing.T) {
	in := planner.Input{Query: "Note the fare.", Catalogue: rideCatalogue(t), MemoryKeys: []string{"home"}}
	checked := planChecked(t, in)
	before := marshal(t, checked.Plan())

	step, ok := checked.Step("s1")
	require.True(t, ok)
	args := step.Do.(planner.Call).Args
	args["from"].(planner.Literal).JSON[1] = 'X'
	delete(args, "to")
	plan := checked.Plan()
	plan.Steps[1].Do.(planner.Call).Args["text"].(planner.Template).Parts[0] = planner.Literal{JSON: json.RawMessage(`""`)}
	for _, f := range checked.FlowsOf("s1") {
		f.Literal[1] = 'X'
	}
	body, _, _ := checked.Body("s1")
	body[1] = 'X'
	checked.FlowsOf("s2")[1].Memory[0] = "X"

	require.Equal(t, before, marshal(t, checked.Plan()))
	require.Equal(t, []string{"home"}, checked.FlowsOf("s2")[1].Memory)
	again, _, _ := checked.Body("s1")
	require.Equal(t, byte('"'), again[1])
}

func TestFlowsOfAreTheFlowsOfOneStep(t *testing.T) {
	checked := planChecked(t, planner.Input{Query: "Note the fare.", Catalogue: rideCatalogue(t), MemoryKeys: []string{"home"}})
	var all []planner.Flow
	for _, id := range checked.Order() {
		for _, f := range checked.FlowsOf(id) {
			require.Equal(t, id, f.To)
			all = append(all, f)
		}
	}
	require.Equal(t, checked.Flows(), all)
	require.Empty(t, checked.FlowsOf("s3"), "it was dropped")
	require.Empty(t, (*planner.Checked)(nil).FlowsOf("s1"))
}

func TestABodyIsThatOfACallWrittenOutInThePlan(t *testing.T) {
	in := planner.Input{Query: "Note the fare.", Catalogue: rideCatalogue(t), MemoryKeys: []string{"home"}}
	checked := planChecked(t, in)
	body, format, ok := checked.Body("s1")
	require.True(t, ok)
	require.Equal(t, `{"from":"a <b>","to":"b"}`, string(body))
	e, _ := in.Catalogue.Entry("ride.fare")
	require.Same(t, e.Request, format)
	got, err := format.Check(body)
	require.NoError(t, err)
	require.Equal(t, []byte(body), got)

	for _, id := range []string{"s2", "s3", "none"} {
		_, _, ok := checked.Body(id)
		require.False(t, ok, id)
	}
}

func TestAPlanOfManyStepsDoesNotCostMoreThanItsSize(t *testing.T) {
	allocs := func(n int) float64 {
		c, reply := sums(t, n)
		p := decode(t, reply)
		return testing.AllocsPerRun(20, func() {
			if _, problems := p.Validate(c, planner.ValidateInput{}); len(problems) > 0 {
				t.Error(problems)
			}
		})
	}
	require.LessOrEqual(t, allocs(100), 11*allocs(10))
}

func marshal(t *testing.T, p *planner.Plan) string {
	t.Helper()
	raw, err := json.Marshal(p)
	require.NoError(t, err)
	return string(raw)
}
