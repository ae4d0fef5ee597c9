package hub_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/isolategpt/isolategpt/hub"
	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/permission"
	"github.com/isolategpt/isolategpt/spoke"
)

type add struct {
	A int `json:"a" isolate:"min=0,max=1000000"`
	B int `json:"b" isolate:"min=0,max=1000000"`
}

type sum struct {
	Sum int `json:"sum" isolate:"min=0,max=2000000"`
}

// adder has a functionality, and one that asks another app for the same.
func adder(id isc.AppID, name, other isc.FunctionalityName) spoke.App {
	return must(spoke.New(isc.Manifest{ID: id, Name: string(id), Wants: []isc.FunctionalityName{other}},
		spoke.Func(name, func(_ context.Context, in add) (sum, error) { return sum{in.A + in.B}, nil }, spoke.Reads()),
		spoke.FuncWith(name+".by", func(ctx context.Context, h spoke.Hub, in add) (sum, error) {
			body, err := h.Use(ctx, other, fmt.Appendf(nil, `{"a":%d,"b":%d}`, in.A, in.B))
			if err != nil {
				return sum{}, err
			}
			var out sum
			return out, isc.Unmarshal(body, &out)
		}, spoke.Reads()),
	))
}

// chain is a plan of n calls; one after another, each adds to the one before.
func chain(n int, sequential bool) string {
	var b strings.Builder
	b.WriteString(`{"steps":[`)
	for i := range n {
		if i > 0 {
			b.WriteString(",")
		}
		a := fmt.Sprint(i)
		if sequential && i > 0 {
			a = fmt.Sprintf(`{"step":"s%d","pointer":"/sum"}`, i-1)
		}
		fmt.Fprintf(&b, `{"id":"s%d","do":"call","functionality":"sum.a","args":{"a":%s,"b":1}}`, i, a)
	}
	b.WriteString(`],"answer":{"template":["The sum is "`)
	for i := range n {
		if !sequential || i == n-1 {
			fmt.Fprintf(&b, `," ",{"step":"s%d","pointer":"/sum"}`, i)
		}
	}
	b.WriteString(`]}}`)
	return b.String()
}

// benchSession has every check on, an audit trail, and a policy that asks about
// everything: the person is asked before the measuring, permits for good, and
// from then on stored grants answer.
func benchSession(b *testing.B, plan string) (s *hub.Session, asked *atomic.Int64) {
	b.Helper()
	asked = new(atomic.Int64)
	model := llm.Func(func(_ context.Context, req *llm.Request) (*llm.Response, error) {
		text := plan
		if req.Purpose != "plan" {
			text = "Nothing to do."
		}
		return &llm.Response{Text: text, Finish: llm.FinishStop}, nil
	})
	known, _ := adder("b", "sum.b", "sum.a").Manifest().Find("sum.b")
	return open(b, hub.Config{
		LLM: model, Apps: []spoke.App{adder("a", "sum.a", "sum.b"), adder("b", "sum.b", "sum.a")},
		Known: []isc.Functionality{known}, Audit: hub.NewLinesAudit(discard{}),
		Policy: permission.PolicyFunc(func(permission.Question) permission.Ruling {
			return permission.Ruling{Effect: permission.RuleAsk, Rule: "bench.ask"}
		}),
		Consent: permission.PrompterFunc(func(_ context.Context, r permission.Request) (permission.Answer, error) {
			asked.Add(1)
			strongest := slices.Max(r.Offered)
			if len(r.Options) > 0 {
				return r.Choose(strongest, r.Options[0].ID), nil
			}
			return r.Answer(strongest), nil
		}),
	}), asked
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

func ask(b *testing.B, s *hub.Session, asked *atomic.Int64) {
	if _, err := s.Ask(b.Context(), "Add these up."); err != nil {
		b.Fatal(err)
	}
	before := asked.Load()
	for b.Loop() {
		a, err := s.Ask(b.Context(), "Add these up.")
		if err != nil || a.Refused {
			b.Fatal(err, a.Text)
		}
	}
	if asked.Load() != before {
		b.Fatal("a person was asked what a grant covers")
	}
}

func BenchmarkAsk(b *testing.B) {
	for _, n := range []int{0, 1, 10, 100} {
		for _, sequential := range []bool{true, false} {
			order := "once"
			if sequential {
				order = "sequence"
			}
			if n < 2 && !sequential {
				continue
			}
			b.Run(fmt.Sprintf("calls=%d/%s", n, order), func(b *testing.B) {
				plan := `{"steps":[],"answer":{"template":["Nothing to do."]}}`
				if n > 0 {
					plan = chain(n, sequential)
				}
				s, asked := benchSession(b, plan)
				b.ReportAllocs()
				ask(b, s, asked)
				if n > 0 && asked.Load() == 0 {
					b.Fatal("no grant was used")
				}
			})
		}
	}
}

func BenchmarkCollaborate(b *testing.B) {
	for _, name := range []string{"sum.a", "sum.a.by"} {
		b.Run(name, func(b *testing.B) {
			s, asked := benchSession(b, `{"steps":[{"id":"s","do":"call","functionality":"`+name+`","args":{"a":1,"b":1}}],"answer":{"step":"s","pointer":"/sum"}}`)
			b.ReportAllocs()
			ask(b, s, asked)
		})
	}
}
