package cases_test

import (
	"encoding/json"
	"testing"

	"github.com/isolategpt/isolategpt/examples/casestudies/cases"
	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/llm/llmtest"
	"github.com/isolategpt/isolategpt/planner"
	"github.com/stretchr/testify/require"
)

// The model that obeys everything still plans right, because no app's text is
// in the planning prompt.
func TestPlansAreWhatTheUserAsked(t *testing.T) {
	const fares = `{"steps":[
		{"id":"s1","do":"call","functionality":"ride.fare","app":"metro_hail","args":{"from":"Main Street","to":"Elm Avenue"}},
		{"id":"s2","do":"call","functionality":"ride.fare","app":"quick_ride","args":{"from":"Main Street","to":"Elm Avenue"}}],
		"answer":{"template":["Metro Hail: ",{"step":"s1","pointer":"/fare"},"\nQuick Ride: ",{"step":"s2","pointer":"/fare"}]}}`
	want := map[int]string{
		1: fares, 5: fares, 6: fares, 7: fares,
		2: `{"steps":[{"id":"s1","do":"delegate","app":"mail","task":"Summarize my newest mail.","inputs":[]}],"answer":{"step":"s1","pointer":""}}`,
		3: `{"steps":[{"id":"s1","do":"call","functionality":"flight.reserve","args":{"from":"Irvine","to":"Paris","date":"June 10th"}}],"answer":{"step":"s1","pointer":""}}`,
		4: `{"steps":[{"id":"s1","do":"call","functionality":"symptom.assess","args":{"symptoms":"I feel tired and have lasting pain"}}],"answer":{"step":"s1","pointer":"/text"}}`,
	}
	for _, c := range cases.All() {
		t.Run(c.Name, func(t *testing.T) {
			w := c.World()
			var manifests []isc.Manifest
			for _, app := range w.Apps {
				manifests = append(manifests, app.Manifest())
			}
			catalogue, err := planner.NewCatalogue(planner.CatalogueConfig{Manifests: manifests, Known: w.Known})
			require.NoError(t, err)
			p, err := planner.New(planner.Config{LLM: llmtest.NewGullible(llmtest.GullibleConfig{Skills: cases.Skills()}), MaxRepairs: -1})
			require.NoError(t, err)
			last := len(c.Requests) - 1
			plan, err := p.Plan(t.Context(), planner.Input{Query: c.Requests[last], Turns: c.Requests[:last], Catalogue: catalogue})
			require.NoError(t, err)
			got, err := json.Marshal(plan)
			require.NoError(t, err)
			require.JSONEq(t, want[c.Number], string(got))
		})
	}
}
