package hub_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/hub"
	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/memory"
	"github.com/isolategpt/isolategpt/permission"
	"github.com/isolategpt/isolategpt/spoke"
)

// slow is a model that takes a second a call, and counts.
type slow struct {
	mu    sync.Mutex
	calls []string
	plan  string
}

func (s *slow) Generate(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	s.mu.Lock()
	s.calls = append(s.calls, req.Purpose)
	s.mu.Unlock()
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	text := map[string]string{"plan": s.plan, "decide": `{"answer":"Joined."}`, "agent": `{"action":"finish","arguments":{"answer":{"text":"Rest."}}}`}[req.Purpose]
	return &llm.Response{Text: text, Finish: llm.FinishStop}, nil
}

// The paper's artifact makes 2 calls for no app, 5 for one, 16 for two that do
// not depend on each other, all one after another.
func TestModelCallsOnTheCriticalPath(t *testing.T) {
	join := func(steps, inputs string) string {
		return `{"steps":[` + steps + `,{"id":"j","do":"decide","question":"Join.","inputs":[` + inputs + `],"format":{"type":"string"}}],"answer":{"step":"j","pointer":""}}`
	}
	call := func(id, f, args string) string {
		return `{"id":"` + id + `","do":"call","functionality":"` + f + `","args":` + args + `}`
	}
	ride := `{"from":"a","to":"b"}`
	for name, c := range map[string]struct {
		plan    string
		calls   []string
		seconds int
	}{
		"no app":  {`{"steps":[],"answer":"The answer."}`, []string{"plan", "decide"}, 2},
		"one app": {join(call("s", "symptom.assess", `{"complaint":"tired"}`), `{"step":"s","pointer":"/text"}`), []string{"plan", "agent", "decide"}, 3},
		"two independent apps": {
			join(call("a", "sum.a", `{"a":1,"b":2}`)+","+call("b", "sum.b", `{"a":1,"b":2}`), `{"step":"a","pointer":"/sum"},{"step":"b","pointer":"/sum"}`),
			[]string{"plan", "decide"}, 2,
		},
		"a chain of three calls across three apps": {
			join(call("a", "sum.a", `{"a":1,"b":2}`)+","+call("b", "sum.b", `{"a":{"step":"a","pointer":"/sum"},"b":2}`)+","+call("c", "sum.c", `{"a":{"step":"b","pointer":"/sum"},"b":2}`), `{"step":"c","pointer":"/sum"}`),
			[]string{"plan", "decide"}, 2,
		},
		"values alone need no second call": {
			`{"steps":[` + call("m", "ride.fare", ride) + `],"answer":{"template":["It costs ",{"step":"m","pointer":"/fare"},"."]}}`,
			[]string{"plan"}, 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				model := &slow{plan: c.plan}
				h, err := hub.New(hub.Config{
					LLM: model, Launcher: spoke.InProcess(), Consent: permission.PrompterFunc(func(_ context.Context, r permission.Request) (permission.Answer, error) { return saysYes(r), nil }),
					Apps: []spoke.App{metro(), symptomSolver(), adder("app.a", "sum.a", "sum.b"), adder("app.b", "sum.b", "sum.c"), adder("app.c", "sum.c", "sum.a")},
				})
				require.NoError(t, err)
				s, err := h.Session(hub.SessionConfig{User: "ada"})
				require.NoError(t, err)
				start := time.Now()
				a, err := s.Ask(t.Context(), "Please.")
				require.NoError(t, err)
				require.False(t, a.Refused, a.Text)
				require.Equal(t, c.calls, model.calls)
				require.Equal(t, len(c.calls), a.Usage.ModelCalls)
				require.Equal(t, time.Duration(c.seconds)*time.Second, time.Since(start))
				require.NoError(t, h.Close())
			})
		})
	}
}

func TestAnAppAndAVanillaSpokeCanHaveModelsOfTheirOwn(t *testing.T) {
	says := func(who string, saw *[]string) llm.LLM {
		return llm.Func(func(_ context.Context, req *llm.Request) (*llm.Response, error) {
			*saw = append(*saw, who+" "+req.Purpose)
			text := `{"answer":"` + who + `"}`
			if req.Purpose == "agent" {
				text = `{"action":"finish","arguments":{"answer":{"text":"` + who + `"}}}`
			}
			return &llm.Response{Text: text, Finish: llm.FinishStop}, nil
		})
	}
	var saw []string
	const plan = `{"steps":[
		{"id":"a","do":"call","functionality":"symptom.assess","args":{"complaint":"tired"}},
		{"id":"b","do":"decide","question":"Is it grave?","inputs":[{"step":"a","pointer":"/text"}],"format":{"type":"string"},"spoke":"medical"},
		{"id":"c","do":"decide","question":"Say it kindly.","inputs":[{"step":"b","pointer":""}],"format":{"type":"string"}}],
		"answer":{"step":"c","pointer":""}}`
	s := open(t, hub.Config{
		LLM: says("general", &saw), Apps: []spoke.App{symptomSolver()}, Models: map[isc.AppID]llm.LLM{"symptom_solver": says("own", &saw)},
		Vanilla: []hub.Vanilla{{Name: "medical", Description: "medical questions", LLM: says("medical", &saw)}},
		Planner: plans(map[string]string{"tired": plan}), Consent: &person{answer: saysYes},
	})
	_, err := s.Ask(t.Context(), "tired")
	require.NoError(t, err)
	require.Equal(t, []string{"own agent", "medical decide", "general decide"}, saw)
}

func TestTheSameRunOverProcesses(t *testing.T) {
	s := open(t, hub.Config{
		Apps: processApps(), Launcher: spoke.Process(spoke.ProcessConfig{}), Consent: &person{},
		Planner: plans(map[string]string{"fares?": bothFares}),
	})
	for range 2 { // the second time with warm spokes
		a, err := s.Ask(t.Context(), "fares?")
		require.NoError(t, err)
		require.Equal(t, "Metro Hail 51.80, Quick Ride 57.00", a.Text)
	}
}

func TestAPrivateRunLeavesNothing(t *testing.T) {
	var prompts []string
	model := llm.Func(func(_ context.Context, req *llm.Request) (*llm.Response, error) {
		for _, m := range req.Messages {
			prompts = append(prompts, m.Text)
		}
		return &llm.Response{Text: `{"steps":[],"answer":"x"}`, Finish: llm.FinishStop}, nil
	})
	s := open(t, hub.Config{LLM: model})
	_, err := s.Ask(t.Context(), "My secret is xyzzy.", hub.Private())
	require.NoError(t, err)
	prompts = nil
	_, err = s.Ask(t.Context(), "Hello?")
	require.NoError(t, err)
	require.NotContains(t, strings.Join(prompts, "\n"), "xyzzy")
}

func TestALaterSessionKnowsWhatThePersonAskedAndNotWhatWasAnswered(t *testing.T) {
	var last string
	model := llm.Func(func(_ context.Context, req *llm.Request) (*llm.Response, error) {
		text := `{"answer":"forty-two"}`
		if req.Purpose == "plan" {
			last, text = req.Messages[len(req.Messages)-1].Text, `{"steps":[],"answer":"x"}`
		}
		return &llm.Response{Text: text, Finish: llm.FinishStop}, nil
	})
	kept := memory.InMemory()
	for _, text := range []string{"What is six times seven?", "And doubled?"} {
		s := open(t, hub.Config{LLM: model, Memory: kept})
		a, err := s.Ask(t.Context(), text)
		require.NoError(t, err)
		require.Equal(t, "forty-two", a.Text)
	}
	require.Contains(t, last, "What is six times seven?")
	require.NotContains(t, last, "forty-two")
}
