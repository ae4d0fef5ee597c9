package hub_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/hub"
	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/spoke"
)

// fixed is an app of any manifest that always answers the same.
type fixed struct {
	m    isc.Manifest
	body string
}

func (f fixed) Manifest() isc.Manifest { return f.m.Clone() }
func (f fixed) Handle(context.Context, spoke.Call) (json.RawMessage, error) {
	return json.RawMessage(f.body), nil
}

// finishes is an agent's model that ends at once.
func finishes() llm.LLM { return writes(`{"action":"finish","arguments":{"answer":"done"}}`) }

// eavesdrops is model, and keeps all that it is shown.
func eavesdrops(model llm.LLM) (llm.LLM, func() string) {
	var mu sync.Mutex
	var seen strings.Builder
	return llm.Func(func(ctx context.Context, req *llm.Request) (*llm.Response, error) {
			mu.Lock()
			seen.Write(must(json.Marshal(req)))
			mu.Unlock()
			return model.Generate(ctx, req)
		}), func() string {
			mu.Lock()
			defer mu.Unlock()
			return seen.String()
		}
}

// prosaic has an order in each place of a schema that a person may read.
func prosaic() spoke.App {
	f := isc.MustFormat(`{"type":"object","title":"PROSE","description":"PROSE","$comment":"PROSE","additionalProperties":false,"required":["q"],
		"properties":{"q":{"type":"string","title":"PROSE","description":"PROSE","default":"PROSE","examples":["PROSE"],"$comment":"PROSE"}}}`)
	return fixed{isc.Manifest{
		ID: "prosaic", Name: "Prosaic", Description: "PROSE",
		Functionalities: []isc.Functionality{{Name: "prose.look", Description: "PROSE", Request: f, Response: f, Effect: isc.Read}},
	}, `{"q":"x"}`}
}

// TestAnAppsSchemaSaysNothingToAnotherAppsModel: formats reach the model of an app
// that may ask for them; the words that another app wrote beside them do not,
// planned or wanted, installed or only listed.
func TestAnAppsSchemaSaysNothingToAnotherAppsModel(t *testing.T) {
	const planned = `{"steps":[{"id":"d","do":"delegate","app":"victim","task":"do it","may":["prose.look"],"at_most":2}],"answer":{"step":"d","pointer":""}}`
	const unplanned = `{"steps":[{"id":"d","do":"delegate","app":"victim","task":"do it"}],"answer":{"step":"d","pointer":""}}`
	for name, c := range map[string]struct {
		plan      string
		installed []spoke.App
		market    []spoke.App
	}{
		"planned":           {planned, apps(prosaic(), helper("victim")), nil},
		"wanted, listed":    {unplanned, apps(helper("victim", "prose.look")), apps(prosaic())},
		"planned, listed":   {planned, apps(helper("victim")), apps(prosaic())},
		"wanted, both":      {unplanned, apps(prosaic(), helper("victim", "prose.look")), apps(prosaic())},
		"wanted, installed": {unplanned, apps(prosaic(), helper("victim", "prose.look")), nil},
	} {
		t.Run(name, func(t *testing.T) {
			model, seen := eavesdrops(finishes())
			s := open(t, hub.Config{
				Apps: c.installed, Catalogue: &market{apps: c.market}, Waive: bare(c.market...), LLM: model, Consent: &person{answer: saysYes},
				Planner: plans(map[string]string{"go": c.plan}),
			})
			e := runs(t, s, "go")
			require.NoError(t, e.err)
			require.Equal(t, isc.StatusDone, e.step(t, "d").Status, "%+v", e.answer)
			require.NotEmpty(t, seen())
			if name != "wanted, installed" { // which nobody may know of
				require.Contains(t, seen(), "prose_look")
			}
			require.NotContains(t, seen(), "PROSE")
		})
	}
}

// TestAnOfferSaysNothingBesideItsFormats is the same for who asks by itself.
func TestAnOfferSaysNothingBesideItsFormats(t *testing.T) {
	wants := rogue().Manifest()
	wants.Wants = append(wants.Wants, "prose.look")
	for _, listed := range []bool{false, true} {
		offers := 0
		cfg := hub.Config{
			Apps: apps(playedOnly{wants}, metro()), Consent: &person{answer: saysYes}, Planner: plans(map[string]string{"go": roguePlan}),
			Launcher: stage{plays: map[isc.AppID]func(*peer){"rogue": func(p *peer) {
				for p.task() {
					if o, ok := p.ask(isc.Probe{Functionality: "prose.look"}).(isc.Offer); ok {
						offers++
						require.NotContains(t, string(o.Request)+string(o.Response), "PROSE")
					}
					p.done(`{"text":"x"}`)
				}
			}}},
		}
		if listed {
			cfg.Catalogue, cfg.Waive = &market{apps: apps(prosaic())}, bare(prosaic())
		} else {
			cfg.Apps = append(cfg.Apps, prosaic())
		}
		require.NoError(t, runs(t, open(t, cfg), "go").err)
		require.Equal(t, 1, offers)
	}
}
