package hub_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/hub"
	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/permission"
)

// TestAGrantIsForEveryTargetWhereverItStands: a grant for bob is none for eve
// beside him, however deep, and not in what a format leaves open.
func TestAGrantIsForEveryTargetWhereverItStands(t *testing.T) {
	const answer = `{"type":"object","additionalProperties":false,"required":["ok"],"properties":{"ok":{"type":"boolean"}}}`
	for name, c := range map[string]struct {
		format string
		bodies []string // each of which is asked
	}{
		"recursive": {
			`{"type":"object","additionalProperties":false,"properties":{
				"to":{"type":"string","x-isolate-role":"destination"},"also":{"type":"array","items":{"$ref":"#"}}}}`,
			[]string{`{"to":"bob"}`, `{"also":[{"to":"eve"}],"to":"bob"}`, `{"also":[{"also":[{"to":"eve"}]}],"to":"bob"}`, `{"also":[{"also":[{"also":[{"also":[{"also":[{"to":"eve"}]}]}]}]}],"to":"bob"}`},
		},
		"a free object": {
			`{"type":"object"}`,
			[]string{`{"to":"bob"}`, `{"to":"eve"}`, `{"a":{"b":{"to":"eve"}},"to":"bob"}`, `{"cc":["eve"],"to":"bob"}`},
		},
		"free names": {
			`{"type":"object","additionalProperties":false,"properties":{"to":{"type":"object","additionalProperties":{"type":"string","x-isolate-role":"destination"}}}}`,
			[]string{`{"to":{"*":"bob"}}`, `{"to":{"*":"bob","x":"eve"}}`, `{"to":{"x":"bob"}}`, `{"to":{"x":"bob","~1":"eve"}}`},
		},
		"an array": {
			`{"type":"object","additionalProperties":false,"properties":{"to":{"type":"array","items":{"type":"string","x-isolate-role":"destination"}}}}`,
			[]string{`{"to":["bob"]}`, `{"to":["bob","eve"]}`, `{"to":["eve","bob"]}`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			share := fixed{isc.Manifest{ID: "post", Name: "Post", Functionalities: []isc.Functionality{{
				Name: "post.share", Request: isc.MustFormat(c.format), Response: isc.MustFormat(answer), Effect: isc.Write,
			}}}, `{"ok":true}`}
			m := rogue().Manifest()
			m.Wants = append(m.Wants, "post.share")
			p := &person{answer: forSession}
			s := open(t, hub.Config{
				Apps: apps(playedOnly{m}, share, metro()), Consent: p, Planner: plans(map[string]string{"go": roguePlan}),
				Known: share.m.Functionalities,
				Launcher: stage{plays: map[isc.AppID]func(*peer){"rogue": func(p *peer) {
					for p.task() {
						h := p.probe("post.share")
						for _, body := range c.bodies {
							for range 2 {
								require.IsType(t, isc.Response{}, p.ask(use(h, body)))
							}
						}
						p.done(`{"text":"x"}`)
					}
				}}},
			})
			require.NoError(t, runs(t, s, "go").err)
			var asked []string
			for _, r := range p.asked {
				if r.Kind == permission.Collaborate {
					asked = append(asked, string(r.Payload))
					require.Contains(t, r.Offered, permission.AllowSession)
				}
			}
			require.Equal(t, c.bodies, asked, "each is asked once, and the grant for it covers it alone")
		})
	}
}
