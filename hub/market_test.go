package hub_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/hub"
	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/permission"
	"github.com/isolategpt/isolategpt/spoke"
)

// seller is a listed app that serves one functionality.
func seller(id isc.AppID, name string, serves isc.FunctionalityName) spoke.App {
	f := isc.MustFormat(`{"type":"object","additionalProperties":false}`)
	return fixed{isc.Manifest{
		ID: id, Name: name, Functionalities: []isc.Functionality{{Name: serves, Request: f, Response: f, Effect: isc.Read}},
	}, `{}`}
}

// listing opens a hub with a market and says which of these functionalities a
// spoke may know of.
func listing(t *testing.T, market *market, names ...isc.FunctionalityName) (known []isc.FunctionalityName) {
	t.Helper()
	m := rogue().Manifest()
	m.Wants = names
	s := open(t, hub.Config{
		Apps: apps(playedOnly{m}, metro()), Catalogue: market, Planner: plans(map[string]string{"go": roguePlan}),
		Launcher: stage{plays: map[isc.AppID]func(*peer){"rogue": func(p *peer) {
			for p.task() {
				for _, name := range names {
					if p.probe(name) != (isc.Handle{}) {
						known = append(known, name)
					}
				}
				p.done(`{"text":"x"}`)
			}
		}}},
	})
	e := runs(t, s, "go")
	require.NoError(t, e.err)
	require.Equal(t, isc.StatusDone, e.step(t, "m").Status, "what is installed works")
	return known
}

// TestTheMarketCannotKeepAHubFromWorking: what does not validate, what looks like
// an installed app and what looks like another of the market is not listed;
// everything else is.
func TestTheMarketCannotKeepAHubFromWorking(t *testing.T) {
	long := strings.Repeat("ш", 60) // more bytes than an error tells
	for name, bad := range map[string][]spoke.App{
		"an invalid id":              {seller("Bad Id", "Bad", "bad.one")},
		"an invalid name":            {seller("bad", "Bad\nname", "bad.one")},
		"no functionality's format":  {fixed{isc.Manifest{ID: "bad", Name: "Bad", Functionalities: []isc.Functionality{{Name: "bad.one"}}}, ""}},
		"an installed app's id":      {seller("metro_hai1", "Other", "bad.one")},
		"an installed app's name":    {seller("other", "METRO-hail", "bad.one")},
		"an installed functionality": {seller("other", "Other", "ride.f4re")},
		"twins by id":                {seller("some_app", "One", "bad.one"), seller("s0me_app", "Two", "bad.two")},
		"twins by name":              {seller("some", "Some App", "bad.one"), seller("other", "some app", "bad.two")},
		"twins by long name":         {seller("some", long, "bad.one"), seller("other", strings.ToUpper(long), "bad.two")},
		"twins by functionality":     {seller("some", "Some", "bad.one"), seller("other", "Other", "bad.0ne")},
		"one id twice":               {seller("some", "Some", "bad.one"), seller("some", "Some", "bad.two")},
		"an installed app's own id, under a name of the market": {
			seller("metro_hail", "Some App", "bad.one"), seller("some", "Some App", "bad.two"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, good := range [][]spoke.App{nil, apps(seller("florist", "Florist", "good.one"))} {
				names := []isc.FunctionalityName{"bad.one", "bad.two"}
				var want []isc.FunctionalityName
				if good != nil {
					names, want = append(names, "good.one"), []isc.FunctionalityName{"good.one"}
				}
				require.Equal(t, want, listing(t, &market{apps: append(good, bad...)}, names...))
				require.Equal(t, want, listing(t, &market{apps: append(bad[:len(bad):len(bad)], good...)}, names...))
			}
		})
	}
}

// TestADenyRuleAgainstAnAppHoldsForReadsToo: a rule of the organisation against an
// app stops what nobody would be asked about, and the app is not offered.
func TestADenyRuleAgainstAnAppHoldsForReadsToo(t *testing.T) {
	policy, err := permission.Layers(permission.Balanced(), permission.Layer{
		Name: "org", Rules: []permission.Rule{{ID: "no-metro", Effect: permission.RuleDeny, To: "metro_hail"}},
	})
	require.NoError(t, err)
	open := func(installed ...spoke.App) (*hub.Session, *person) {
		p := &person{answer: saysYes}
		return open(t, hub.Config{
			Apps: installed, Consent: p, Policy: policy, LLM: finishes(),
			Planner: plans(map[string]string{
				"fare?": oneFare,
				"task":  `{"steps":[{"id":"f","do":"delegate","app":"metro_hail","task":"Say hello.","at_most":1}],"answer":{"step":"f","pointer":""}}`,
			}),
		}), p
	}
	t.Run("the only one", func(t *testing.T) {
		s, p := open(metro())
		e := runs(t, s, "fare?")
		require.NoError(t, e.err)
		require.True(t, e.answer.Refused)
		require.Equal(t, isc.StatusRefused, e.answer.Steps[0].Status)
		require.Empty(t, p.kinds())
		require.NotContains(t, launched(e), isc.AppID("metro_hail"))
	})
	t.Run("one of two", func(t *testing.T) {
		s, p := open(metro(), quick())
		e := runs(t, s, "fare?")
		require.NoError(t, e.err)
		require.Equal(t, isc.AppID("quick_ride"), e.answer.Steps[0].App)
		require.Empty(t, p.kinds(), "there is one left")
	})
	t.Run("a task in words", func(t *testing.T) {
		m := metro().Manifest()
		m.Instructions = "You drive."
		s, _ := open(fixed{m, `{}`})
		e := runs(t, s, "task")
		require.NoError(t, e.err)
		require.Equal(t, isc.StatusRefused, e.step(t, "f").Status, "%+v", e.answer)
		require.NotContains(t, launched(e), isc.AppID("metro_hail"))
	})
}

// launched are the apps whose spokes were started.
func launched(e ending) (out []isc.AppID) {
	for _, ev := range e.events {
		if l, ok := ev.(hub.Launched); ok {
			out = append(out, l.App)
		}
	}
	return out
}
