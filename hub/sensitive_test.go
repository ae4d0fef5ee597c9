package hub_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/hub"
	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/memory"
	"github.com/isolategpt/isolategpt/permission"
)

// TestWhatAnAppWasGivenOutlivesTheSession: the memory of an app that was given
// private data does, and so does the mark on what it says: in a later session and
// in another hub over the same memory. One hub's private run does not hide it.
func TestWhatAnAppWasGivenOutlivesTheSession(t *testing.T) {
	for name, gives := range map[string][][]hub.Option{
		"never given":                nil,
		"given":                      {nil},
		"given in private":           {{hub.Private()}},
		"given in private and again": {{hub.Private()}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			mem := memory.InMemory()
			learns(t, mem, "ssn", `"123"`)
			first := true
			config := func() (*vault, hub.Config) {
				v := &vault{}
				return v, hub.Config{
					Apps: apps(rogue(), v.app(), metro()), Consent: &person{answer: saysYes}, Memory: mem,
					Planner: plans(map[string]string{"go": roguePlan}),
					Asker:   hub.AskerFunc(func(context.Context, hub.Question) (json.RawMessage, error) { return json.RawMessage(`"123"`), nil }),
					Launcher: stage{plays: map[isc.AppID]func(*peer){"rogue": func(p *peer) {
						for p.task() {
							if first {
								require.Equal(t, `"123"`, p.need("ssn"))
							} else {
								p.ask(use(p.probe("vault.save"), `{"text":"what I know"}`))
							}
							p.done(`{"text":"x"}`)
						}
					}}},
				}
			}
			_, cfg := config()
			s := open(t, cfg)
			for _, opts := range gives {
				require.NoError(t, runs(t, s, "go", opts...).err)
			}
			require.NoError(t, s.Close())
			first = false
			v, cfg := config()
			e := runs(t, open(t, cfg), "go")
			require.NoError(t, e.err)
			require.Len(t, v.done("vault.save"), 1)
			want := name == "given" || name == "given in private and again" // what no memory has is gone with the spoke
			seen := false
			for _, d := range e.decided() {
				if d.Question.Functionality == "vault.save" && d.Question.Kind == permission.Collaborate && !d.Question.Probe {
					seen = true
					require.Equal(t, want, d.Question.Label.IsSensitive())
					require.Equal(t, want, warned(*d.Verdict.Request, permission.CodeRuleOfTwo))
				}
			}
			require.True(t, seen)
		})
	}
}
