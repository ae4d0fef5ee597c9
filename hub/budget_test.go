package hub_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/hub"
	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/permission"
	"github.com/isolategpt/isolategpt/planner"
	"github.com/isolategpt/isolategpt/spoke"
)

// deciding is a plan of n questions to a model, side by side.
func deciding(n int) string {
	var steps, refs []string
	for i := range n {
		steps = append(steps, fmt.Sprintf(`{"id":"d%d","do":"decide","question":"Is %d even?","format":{"type":"boolean"}}`, i, i))
		refs = append(refs, fmt.Sprintf(`{"step":"d%d","pointer":""}`, i))
	}
	return `{"steps":[` + strings.Join(steps, ",") + `],"answer":{"template":[` + strings.Join(refs, `," ",`) + `]}}`
}

func ends(a hub.Answer, s isc.Status) int {
	n := 0
	for _, o := range a.Steps {
		if o.Status == s {
			n++
		}
	}
	return n
}

func TestLimitModelCalls(t *testing.T) {
	var calls atomic.Int64
	model := llm.Func(func(context.Context, *llm.Request) (*llm.Response, error) {
		calls.Add(1)
		return &llm.Response{Text: `{"answer":true}`, Finish: llm.FinishStop}, nil
	})
	s := open(t, hub.Config{LLM: model, Limits: hub.Limits{ModelCalls: 3}, Planner: plans(map[string]string{"go": deciding(6)})})
	a := runs(t, s, "go").answer
	require.EqualValues(t, 3, calls.Load())
	require.Equal(t, 3, ends(a, isc.StatusDone), "%+v", a.Steps)
	require.EqualValues(t, 3, ends(runs(t, s, "go").answer, isc.StatusDone), "each run has its own")
}

func TestLimitTokens(t *testing.T) {
	var calls atomic.Int64
	model := llm.Func(func(context.Context, *llm.Request) (*llm.Response, error) {
		calls.Add(1)
		return &llm.Response{Text: `{"answer":true}`, Finish: llm.FinishStop, Usage: llm.Usage{InputTokens: 400, OutputTokens: 100}}, nil
	})
	chained := `{"steps":[
		{"id":"a","do":"decide","question":"q","format":{"type":"boolean"}},
		{"id":"b","do":"decide","question":"q2","inputs":[{"step":"a","pointer":""}],"format":{"type":"boolean"}},
		{"id":"c","do":"decide","question":"q3","inputs":[{"step":"b","pointer":""}],"format":{"type":"boolean"}}],"answer":{"step":"c","pointer":""}}`
	s := open(t, hub.Config{LLM: model, Limits: hub.Limits{Tokens: 1000}, Planner: plans(map[string]string{"go": chained})})
	a := runs(t, s, "go").answer
	require.EqualValues(t, 2, calls.Load())
	require.Equal(t, 1000, a.Usage.Tokens)
	require.NotEqual(t, isc.StatusDone, a.Steps[2].Status)
}

func TestLimitCalls(t *testing.T) {
	s := besiege(t, func(p *peer) {
		p.task()
		h := p.probe("vault.count")
		for range 8 {
			p.ask(use(h, `{}`))
		}
		p.done(`{"text":"x"}`)
	}, func(cfg *hub.Config) { cfg.Limits.Calls = 5 })
	s.person.answer = func(r permission.Request) permission.Answer { return r.Answer(permission.AllowSession) }
	e := runs(t, s.Session, "go")
	require.LessOrEqual(t, s.vault.all(), 4)
	require.Positive(t, s.vault.all())
	require.NoError(t, e.err)
}

func TestLimitBytes(t *testing.T) {
	big := isc.Progress{Text: strings.Repeat("x", 10_000)}
	sent := 0
	s := besiege(t, func(p *peer) {
		p.task()
		for p.say(big) {
			sent++
		}
	}, func(cfg *hub.Config) { cfg.Limits.Bytes = 55_000 })
	e := runs(t, s.Session, "go")
	require.Equal(t, isc.StatusBudget, e.step(t, "r").Status)
	require.LessOrEqual(t, sent, 7)
}

// TestNoTaskUsesUpWhatIsForOthers: a spoke that says or asks as much as it may has
// used its own share, and the steps after it find theirs.
func TestNoTaskUsesUpWhatIsForOthers(t *testing.T) {
	const after = `{"steps":[
		{"id":"r","do":"call","functionality":"rogue.work","args":{"text":"go"}},
		{"id":"m","do":"call","when":{"op":"not","of":[{"op":"present","a":{"step":"r","pointer":""}}]},"functionality":"ride.fare","app":"metro_hail","args":{"from":"Main Street","to":"Elm Avenue"}}],
		"answer":{"template":["Fare ",{"step":"m","pointer":"/fare"},". Rogue: ",{"step":"r","pointer":"/text"}]}}`
	reads := isc.Confirm{Functionality: "rogue.work", Body: json.RawMessage(`{"text":"x"}`)}
	for name, play := range map[string]func(*peer){
		"message bytes": func(p *peer) { flood(func() bool { return p.say(bigConfirm) }) },
		"calls":         func(p *peer) { flood(func() bool { return p.say(reads) }) },
	} {
		t.Run(name, func(t *testing.T) {
			s := besiege(t, func(p *peer) { p.task(); play(p) }, func(cfg *hub.Config) {
				cfg.Limits.Bytes, cfg.Limits.Calls = 6<<20, 40
				cfg.Planner = plans(map[string]string{"go": after})
			})
			s.person.answer = saysYes
			e := runs(t, s.Session, "go")
			require.Equal(t, isc.StatusBudget, e.step(t, "r").Status, "%+v", e.answer)
			require.Equal(t, isc.StatusDone, e.step(t, "m").Status, "%v", e.step(t, "m").Err)
		})
	}
}

// chainApps are apps that each ask the next one.
func chainApps(n int, deepest *atomic.Int64) []spoke.App {
	var out []spoke.App
	for i := range n {
		next := isc.FunctionalityName(fmt.Sprintf("hop%d.go", i+1))
		out = append(out, must(spoke.New(isc.Manifest{ID: isc.AppID(fmt.Sprintf("hop%d", i)), Name: fmt.Sprintf("Hop %d", i), Wants: []isc.FunctionalityName{next}},
			spoke.FuncWith(isc.FunctionalityName(fmt.Sprintf("hop%d.go", i)), func(ctx context.Context, h spoke.Hub, _ empty) (sent, error) {
				deepest.Store(max(deepest.Load(), int64(i)))
				_, _ = h.Use(ctx, next, json.RawMessage(`{}`))
				return sent{i}, nil
			}, spoke.Reads()))))
	}
	return out
}

const hopPlan = `{"steps":[{"id":"h","do":"call","functionality":"hop0.go","args":{}}],"answer":{"step":"h","pointer":"/id"}}`

func TestLimitDepth(t *testing.T) {
	for depth := 1; depth <= 3; depth++ {
		var deepest atomic.Int64
		s := open(t, hub.Config{
			Apps: chainApps(6, &deepest), Limits: hub.Limits{Depth: depth}, Consent: &person{answer: saysYes},
			Planner: plans(map[string]string{"go": hopPlan}),
		})
		require.NoError(t, runs(t, s, "go").err)
		require.EqualValues(t, depth, deepest.Load())
	}
}

// TestLimitPrompts is scenario D4: past the limit everything is denied unseen.
func TestLimitPrompts(t *testing.T) {
	s := besiege(t, func(p *peer) {
		p.task()
		h := p.probe("vault.count")
		for range 10 {
			p.ask(use(h, `{}`))
		}
		p.done(`{"text":"x"}`)
	}, func(cfg *hub.Config) { cfg.Limits.Prompts = 4 })
	s.person.answer = saysYes
	runs(t, s.Session, "go")
	require.Len(t, s.person.kinds(), 4)
	require.Equal(t, 3, s.vault.all())
}

func TestLimitStrikes(t *testing.T) {
	said := 0
	s := besiege(t, func(p *peer) {
		p.task()
		for p.ask(isc.Probe{Functionality: "odd.name"}) != nil {
			said++
		}
	}, func(cfg *hub.Config) { cfg.Limits.Strikes = 3 })
	e := runs(t, s.Session, "go")
	require.Equal(t, 3, said)
	require.Equal(t, 4, e.dropped())
	require.Equal(t, isc.StatusBudget, e.step(t, "r").Status)
}

func TestLimitMessages(t *testing.T) {
	s := besiege(t, func(p *peer) {
		p.task()
		flood(func() bool { return p.say(isc.Progress{Text: "x"}) })
	}, func(cfg *hub.Config) { cfg.Limits.Messages = 10 })
	e := runs(t, s.Session, "go")
	lines := 0
	for _, ev := range e.events {
		if _, ok := ev.(hub.Progress); ok {
			lines++
		}
	}
	require.Equal(t, 10, lines)
	require.Equal(t, isc.StatusBudget, e.step(t, "r").Status)
}

func TestLimitParallel(t *testing.T) {
	var now, most atomic.Int64
	app := must(spoke.New(isc.Manifest{ID: "slow", Name: "Slow"}, spoke.Func("slow.work", func(context.Context, note) (sent, error) {
		most.Store(max(most.Load(), now.Add(1)))
		defer now.Add(-1)
		time.Sleep(time.Second)
		return sent{1}, nil
	}, spoke.Reads())))
	var steps, refs []string
	for i := range 7 {
		steps = append(steps, fmt.Sprintf(`{"id":"s%d","do":"call","functionality":"slow.work","args":{"text":"%d"}}`, i, i))
		refs = append(refs, fmt.Sprintf(`{"step":"s%d","pointer":"/id"}`, i))
	}
	plan := `{"steps":[` + strings.Join(steps, ",") + `],"answer":{"template":[` + strings.Join(refs, ",") + `]}}`
	synctest.Test(t, func(t *testing.T) {
		s := open(t, hub.Config{Apps: apps(app), Limits: hub.Limits{Parallel: 2}, Planner: plans(map[string]string{"go": plan})})
		start := time.Now()
		require.Equal(t, 7, ends(runs(t, s, "go").answer, isc.StatusDone))
		require.EqualValues(t, 2, most.Load())
		require.Equal(t, 4*time.Second, time.Since(start))
	})
}

// TestAppsThatAskOneAnotherDoNotWaitForEver is scenario E6: with one spoke of
// each, A waits for B and B for A.
func TestAppsThatAskOneAnotherDoNotWaitForEver(t *testing.T) {
	const plan = `{"steps":[{"id":"a","do":"call","functionality":"left.work","args":{}},{"id":"b","do":"call","functionality":"right.work","args":{}}],
		"answer":{"template":[{"step":"a","pointer":"/id"},{"step":"b","pointer":"/id"}]}}`
	side := func(own, other string) spoke.App {
		count := isc.FunctionalityName(other + ".count")
		return must(spoke.New(isc.Manifest{ID: isc.AppID(own), Name: own, Wants: []isc.FunctionalityName{count}},
			spoke.FuncWith(isc.FunctionalityName(own+".work"), func(ctx context.Context, h spoke.Hub, _ empty) (sent, error) {
				time.Sleep(time.Second) // both are at work before either asks
				_, err := h.Use(ctx, count, json.RawMessage(`{}`))
				return sent{1}, err
			}, spoke.Reads()),
			spoke.Func(isc.FunctionalityName(own+".count"), func(context.Context, empty) (sent, error) { return sent{2}, nil }, spoke.Reads())))
	}
	synctest.Test(t, func(t *testing.T) {
		s := open(t, hub.Config{
			Apps: apps(side("left", "right"), side("right", "left")), Limits: hub.Limits{Parallel: 1},
			Consent: &person{answer: saysYes}, Planner: plans(map[string]string{"go": plan}),
		})
		start := time.Now()
		require.Equal(t, 2, ends(runs(t, s, "go").answer, isc.StatusDone))
		require.LessOrEqual(t, time.Since(start), 2*time.Second)
	})
}

func TestLimitWall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, hub.Config{
			Limits: hub.Limits{Wall: 30 * time.Second},
			Planner: planner.Func(func(ctx context.Context, _ planner.Input) (*planner.Plan, error) {
				<-ctx.Done()
				return nil, context.Cause(ctx)
			}),
		})
		start := time.Now()
		_, err := s.Ask(context.Background(), "go")
		require.ErrorIs(t, err, hub.ErrBudget)
		require.Equal(t, 30*time.Second, time.Since(start))
	})
}

// TestADelegatedTaskMayNotCallMoreThanPlanned: the bound is the hub's, whatever
// the spoke thinks of it.
func TestADelegatedTaskMayNotCallMoreThanPlanned(t *testing.T) {
	const plan = `{"steps":[{"id":"r","do":"delegate","app":"rogue","task":"Count.","may":["vault.count"],"at_most":2}],"answer":{"step":"r","pointer":""}}`
	s := besiege(t, func(p *peer) {
		p.task()
		h := p.probe("vault.count")
		for range 6 {
			p.ask(use(h, `{}`))
		}
		p.done(`"x"`)
	}, func(cfg *hub.Config) { cfg.Planner = plans(map[string]string{"go": plan}) })
	s.person.answer = saysYes
	e := runs(t, s.Session, "go")
	require.Equal(t, isc.StatusDone, e.step(t, "r").Status, "%+v", e.answer)
	require.Equal(t, 2, s.vault.all())
}
