package planner_test

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/llm/openai"
	"github.com/isolategpt/isolategpt/planner"
)

// TestRealModel plans small requests on a real model behind an
// OpenAI-compatible endpoint: ISOLATEGPT_LLM_URL and, if the server wants one,
// ISOLATEGPT_LLM_MODEL. It says what came out and fails only where a plan is
// wrong in a way that a model of 1.5B parameters is known to get right.
func TestRealModel(t *testing.T) {
	url := os.Getenv("ISOLATEGPT_LLM_URL")
	if url == "" {
		t.Skip("no real model: set ISOLATEGPT_LLM_URL")
	}
	client, err := openai.New(openai.Config{BaseURL: url, Model: os.Getenv("ISOLATEGPT_LLM_MODEL"), Schema: openai.ResponseFormat})
	require.NoError(t, err)
	for _, c := range realCases() {
		t.Run(c.name, func(t *testing.T) {
			model := llm.Func(func(ctx context.Context, req *llm.Request) (*llm.Response, error) {
				res, err := client.Generate(ctx, req)
				if err == nil {
					t.Logf("%s (%d+%d tokens): %s", req.Purpose, res.Usage.InputTokens, res.Usage.OutputTokens, res.Text)
				}
				return res, err
			})
			start := time.Now()
			p, err := newPlanner(t, planner.Config{LLM: model}).Plan(t.Context(), planner.Input{
				Query: c.query, Catalogue: catalogue(t, planner.CatalogueConfig{Manifests: c.apps}),
				Today: time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC),
			})
			t.Logf("%.1f s", time.Since(start).Seconds())
			require.NoError(t, err)
			raw, err := json.Marshal(p)
			require.NoError(t, err)
			require.True(t, c.good(p), "%s", raw)
		})
	}
}

type realCase struct {
	name, query string
	apps        []isc.Manifest
	good        func(*planner.Plan) bool
}

// used are the functionalities that a plan calls, with the app where one is
// named, and the apps that it delegates to.
func used(p *planner.Plan) []string {
	var out []string
	for _, s := range p.Steps {
		switch a := s.Do.(type) {
		case planner.Call:
			out = append(out, a.Functionality+"@"+string(a.App))
		case planner.Delegate:
			out = append(out, "delegate@"+string(a.App))
		default: // any other is no app's
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func uses(sets ...[]string) func(*planner.Plan) bool {
	return func(p *planner.Plan) bool {
		return slices.ContainsFunc(sets, func(set []string) bool { return slices.Equal(set, used(p)) })
	}
}

func realCases() []realCase {
	text := func(fields string) string {
		return `{"type":"object","properties":{` + fields + `},"additionalProperties":false}`
	}
	str := func(names ...string) string {
		out, must := "", ""
		for i, n := range names {
			if i > 0 {
				out, must = out+",", must+","
			}
			out, must = out+`"`+n+`":{"type":"string"}`, must+`"`+n+`"`
		}
		return `{"type":"object","properties":{` + out + `},"required":[` + must + `],"additionalProperties":false}`
	}
	ride := func(id isc.AppID, name string) isc.Manifest {
		return isc.Manifest{ID: id, Name: name, Functionalities: []isc.Functionality{functionality("ride.fare", isc.Read, str("from", "to"), fareOut)}}
	}
	mails := isc.Manifest{ID: "mail", Name: "Mail", Instructions: "Manage mail.", Functionalities: []isc.Functionality{
		functionality("mail.newest", isc.Read, nothing, str("id", "from", "subject", "body")),
		functionality("mail.search", isc.Read, str("query"), text(`"mails":{"type":"array","items":`+str("id", "from", "subject")+`}`)),
		functionality("mail.send", isc.Irreversible, str("to", "subject", "body"), okOut),
		functionality("mail.delete", isc.Irreversible, str("id"), okOut),
	}}
	drive := isc.Manifest{ID: "drive", Name: "Drive", Functionalities: []isc.Functionality{
		functionality("drive.find", isc.Read, str("query"), text(`"files":{"type":"array","items":{"type":"string"}}`)),
		functionality("drive.read", isc.Read, str("file"), textOut),
	}}
	date := `{"type":"object","properties":{"from":{"type":"string"},"to":{"type":"string"},"date":{"type":"string","format":"date"}},"required":["from","to","date"],"additionalProperties":false}`
	travel := isc.Manifest{ID: "travel_mate", Name: "Travel Mate", Functionalities: []isc.Functionality{functionality("travel.flight", isc.Irreversible, date, str("booking"))}}
	health := isc.Manifest{ID: "health_companion", Name: "Health Companion", Functionalities: []isc.Functionality{
		functionality("health.appointment", isc.Irreversible, str("name", "birth_date", "symptoms"), str("appointment"))}}
	muse := isc.Manifest{ID: "creative_muse", Name: "Creative Muse", Functionalities: []isc.Functionality{functionality("story.write", isc.Read, str("topic"), str("story"))}}
	solver := isc.Manifest{ID: "symptom_solver", Name: "Symptom Solver", Functionalities: []isc.Functionality{functionality("symptom.assess", isc.Read, str("complaint"), str("assessment"))}}
	rides := []isc.Manifest{ride("metro-hail", "Metro Hail"), ride("quick-ride", "Quick Ride")}
	noApp := func(p *planner.Plan) bool { return len(used(p)) == 0 && len(p.Steps) == 1 }
	return []realCase{
		{"fares", "What would Metro Hail and Quick Ride charge from Main Street to Elm Avenue?", rides,
			uses([]string{"ride.fare@metro-hail", "ride.fare@quick-ride"})},
		{"one fare", "How much is Quick Ride from the harbour to the zoo?", rides, uses([]string{"ride.fare@quick-ride"})},
		{"mail", "Summarize my newest mail", []isc.Manifest{mails, drive},
			uses([]string{"mail.newest@"}, []string{"delegate@mail"})},
		{"flight", "Book me a flight from Irvine to Paris on June 10th", []isc.Manifest{travel, health}, uses([]string{"travel.flight@"})},
		{"symptoms", "I feel tired and have had lasting pain. What should I do?", []isc.Manifest{muse, solver}, uses([]string{"symptom.assess@"})},
		{"story", "Write me a bedtime story about a brave snail", []isc.Manifest{muse, solver}, uses([]string{"story.write@"})},
		{"no app", "What is the capital of France?", append(rides, mails, drive, travel), noApp},
		{"no app, few", "How many days has a leap year?", rides, noApp},
	}
}
