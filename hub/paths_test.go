package hub_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/hub"
	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/permission"
)

// TestSamePolicyOnEveryPath is P11: an irreversible act is asked once with its
// exact bytes, and denied by the same rule, whichever way leads to it.
func TestSamePolicyOnEveryPath(t *testing.T) {
	const (
		direct   = `{"steps":[{"id":"s","do":"call","functionality":"vault.wipe","args":{"door":"front"}}],"answer":{"template":["x"]}}`
		viaISC   = roguePlan
		delegate = `{"steps":[{"id":"s","do":"delegate","app":"rogue","task":"Wipe.","may":["vault.wipe"],"at_most":3}],"answer":{"step":"s","pointer":""}}`
		burning  = `{"steps":[{"id":"s","do":"delegate","app":"rogue","task":"Burn.","at_most":3}],"answer":{"step":"s","pointer":""}}`
	)
	wipe := func(result string) func(*peer) {
		return func(p *peer) {
			for p.task() {
				p.ask(use(p.probe("vault.wipe"), `{ "door" : "front" }`))
				p.done(result)
			}
		}
	}
	confirmed := false
	confirm := func(p *peer) {
		for p.task() {
			_, ok := p.ask(burn).(isc.Confirmed)
			confirmed = confirmed || ok
			p.done(`"x"`)
		}
	}
	for name, c := range map[string]struct {
		plan    string
		play    func(*peer)
		opts    []hub.Option
		warm    bool
		payload string
	}{
		"direct":           {direct, nil, nil, false, `{"door":"front"}`},
		"direct, private":  {direct, nil, []hub.Option{hub.Private()}, false, `{"door":"front"}`},
		"another app":      {viaISC, wipe(`{"text":"x"}`), nil, false, `{"door":"front"}`},
		"another, private": {viaISC, wipe(`{"text":"x"}`), []hub.Option{hub.Private()}, false, `{"door":"front"}`},
		"follow-up":        {viaISC, wipe(`{"text":"x"}`), nil, true, `{"door":"front"}`},
		"planned request":  {delegate, wipe(`"x"`), nil, false, `{"door":"front"}`},
		"own act":          {burning, confirm, nil, false, `{"text":"x"}`},
		"own act, private": {burning, confirm, []hub.Option{hub.Private()}, false, `{"text":"x"}`},
	} {
		t.Run(name, func(t *testing.T) {
			irreversible := func(s *siege) (out []permission.Request) {
				for _, r := range s.person.asked {
					if r.Kind == permission.Irreversible {
						out = append(out, r)
					}
				}
				return out
			}
			change := func(cfg *hub.Config) { cfg.Planner = plans(map[string]string{"go": c.plan}) }
			s := besiege(t, c.play, change)
			s.person.answer = func(r permission.Request) permission.Answer {
				if r.Kind == permission.Irreversible {
					return r.Answer(permission.Deny)
				}
				return saysYes(r)
			}
			if c.warm {
				runs(t, s.Session, "go", c.opts...)
				s.person.asked = nil
			}
			runs(t, s.Session, "go", c.opts...)
			asked := irreversible(s)
			require.Len(t, asked, 1)
			require.Equal(t, c.payload, string(asked[0].Payload))
			require.Equal(t, []permission.Decision{permission.Deny, permission.AllowOnce}, asked[0].Offered)

			rule := permission.Rule{ID: "never", Effect: permission.RuleDeny, Kinds: []permission.Kind{permission.Irreversible}}
			policy := must(permission.Layers(permission.InsecureAllowAll(), permission.Layer{Name: "house", Rules: []permission.Rule{rule}}))
			ruled := besiege(t, c.play, change, func(cfg *hub.Config) { cfg.Policy = policy })
			e := runs(t, ruled.Session, "go", c.opts...)
			require.Empty(t, ruled.person.kinds())
			denied := 0
			for _, d := range e.decided() {
				if d.Question.Kind == permission.Irreversible {
					denied++
					require.Equal(t, "never", d.Verdict.Rule)
				}
			}
			require.Equal(t, 1, denied)
			require.Zero(t, s.vault.all()+ruled.vault.all())
		})
	}
	require.False(t, confirmed, "no act was confirmed")
}

// TestATaskForAnAppIsAskedAboutLikeACall: a policy that asks about each app is
// heard before a sub-task in words, too.
func TestATaskForAnAppIsAskedAboutLikeACall(t *testing.T) {
	const plan = `{"steps":[{"id":"s","do":"delegate","app":"mail","task":"Read.","at_most":3}],"answer":{"step":"s","pointer":""}}`
	asked, denies := 0, &person{}
	model := llm.Func(func(context.Context, *llm.Request) (*llm.Response, error) {
		asked++
		return &llm.Response{Text: `{"action":"finish","arguments":{"answer":"Done."}}`, Finish: llm.FinishStop}, nil
	})
	s := open(t, hub.Config{
		LLM: model, Apps: apps((&postOffice{}).app()), Policy: permission.EveryStep(), Consent: denies, Planner: plans(map[string]string{"read": plan}),
	})
	a, err := s.Ask(t.Context(), "read")
	require.NoError(t, err)
	require.Equal(t, []string{"select-app"}, denies.kinds())
	require.Zero(t, asked, "the app's model was not asked")
	require.True(t, a.Refused, a.Text)
}
