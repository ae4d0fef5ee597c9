package hub_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/hub"
	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/permission"
	"github.com/isolategpt/isolategpt/spoke"
)

// writer is an app that answers everything with a text of its own.
func writer(id isc.AppID, serves ...isc.FunctionalityName) spoke.App {
	m := isc.Manifest{ID: id, Name: "App " + string(id)}
	for _, name := range serves {
		m.Functionalities = append(m.Functionalities, isc.Functionality{
			Name: name, Effect: isc.Read, Request: isc.MustFormat(`{"type":"object","additionalProperties":false}`),
			Response: isc.MustFormat(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}`),
		})
	}
	return fixed{m, `{"text":"words of ` + string(id) + `"}`}
}

// TestTextsOfTwoAppsMeetOnlyIfAllowed: before a model, an app's or none, is given
// the free texts of two apps, that is asked for each of them, whatever was
// approved and whoever could have served the steps.
func TestTextsOfTwoAppsMeetOnlyIfAllowed(t *testing.T) {
	const reads = `{"steps":[{"id":"a","do":"call","functionality":"x.read","args":{}},{"id":"b","do":"call","functionality":"y.read","args":{}},`
	const inputs = `"inputs":[{"step":"a","pointer":"/text"},{"step":"b","pointer":"/text"}]`
	const answer = `],"answer":{"step":"d","pointer":""}}`
	one := apps(writer("appa", "x.read"), writer("appb", "y.read"))
	both := apps(writer("appa", "x.read", "y.read"), writer("appb", "x.read", "y.read"))
	for name, c := range map[string]struct {
		installed []spoke.App
		step      string
		asked     []isc.AppID // whose texts are asked about
	}{
		"decide":                       {one, `{"id":"d","do":"decide","question":"q?",` + inputs + `}`, []isc.AppID{"appa", "appb"}},
		"decide, picked apps":          {both, `{"id":"d","do":"decide","question":"q?",` + inputs + `}`, []isc.AppID{"appa", "appb"}},
		"a vanilla task":               {one, `{"id":"d","do":"delegate","task":"do it",` + inputs + `}`, []isc.AppID{"appa", "appb"}},
		"a vanilla task, picked apps":  {both, `{"id":"d","do":"delegate","task":"do it",` + inputs + `}`, []isc.AppID{"appa", "appb"}},
		"a vanilla task that may act":  {one, `{"id":"d","do":"delegate","task":"do it","may":["vault.move"],"at_most":2,` + inputs + `}`, []isc.AppID{"appa", "appb"}},
		"an app's task":                {one, `{"id":"d","do":"delegate","app":"helper","task":"do it",` + inputs + `}`, []isc.AppID{"appa", "appb"}},
		"an app's task, picked apps":   {both, `{"id":"d","do":"delegate","app":"helper","task":"do it",` + inputs + `}`, []isc.AppID{"appa", "appb"}},
		"one template of both":         {one, `{"id":"d","do":"decide","question":"q?","inputs":[{"template":[{"step":"a","pointer":"/text"},{"step":"b","pointer":"/text"}]}]}`, []isc.AppID{"appa", "appb"}},
		"what one app wrote, may meet": {one, `{"id":"d","do":"decide","question":"q?","inputs":[{"step":"a","pointer":"/text"}]}`, nil},
	} {
		for _, allow := range []bool{true, false} {
			if !allow && c.asked == nil {
				continue
			}
			t.Run(name, func(t *testing.T) {
				model, seen := eavesdrops(llm.Func(func(ctx context.Context, req *llm.Request) (*llm.Response, error) {
					if req.Purpose == "decide" {
						return writes(`{"answer":"x"}`).Generate(ctx, req)
					}
					return finishes().Generate(ctx, req)
				}))
				p := &person{answer: func(r permission.Request) permission.Answer {
					a := saysYes(r)
					if r.Kind == permission.SelectApp && r.Functionality == "y.read" {
						a.Choice = r.Options[1].ID
					}
					if r.Kind == permission.Deliver && !allow {
						return r.Answer(permission.Deny)
					}
					return a
				}}
				s := open(t, hub.Config{
					Apps: append(c.installed[:2:2], helper("helper"), (&vault{}).app()), LLM: model, Consent: p,
					Planner: plans(map[string]string{"go": reads + c.step + answer}),
				})
				e := runs(t, s, "go")
				require.NoError(t, e.err)
				asked := map[isc.AppID]bool{}
				for _, r := range p.asked {
					if r.Kind == permission.Deliver {
						asked[r.From.ID] = true
						require.Equal(t, []permission.Decision{permission.Deny, permission.AllowOnce}, r.Offered)
						require.Contains(t, string(r.Payload), "words of appa")
					}
				}
				if !allow {
					require.NotEmpty(t, asked)
					require.Equal(t, isc.StatusRefused, e.step(t, "d").Status)
					require.NotContains(t, seen(), "words of")
					return
				}
				require.Equal(t, isc.StatusDone, e.step(t, "d").Status, "%+v", e.answer)
				require.Contains(t, seen(), "words of appa")
				require.Len(t, asked, len(c.asked))
				for _, id := range c.asked {
					require.True(t, asked[id], id)
				}
			})
		}
	}
}
