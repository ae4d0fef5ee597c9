package hub_test

import (
	"context"
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

// restless is an agent's model that never finishes: it reads its mail for ever.
func restless(calls *atomic.Int64) llm.LLM {
	return llm.Func(func(context.Context, *llm.Request) (*llm.Response, error) {
		n := calls.Add(1)
		text := `{"action":"mail_newest","arguments":{}}`
		if n%2 == 0 { // the same call twice in a row is not made
			text = `{"action":"need_data","arguments":{"fields":[{"name":"name","purpose":"p` + strings.Repeat("x", int(n)) + `"}]}}`
		}
		return &llm.Response{Text: text, Finish: llm.FinishStop, Usage: llm.Usage{InputTokens: 10, OutputTokens: 10}}, nil
	})
}

func TestTheLimitsOfATaskReachItsSpoke(t *testing.T) {
	const plan = `{"steps":[{"id":"s","do":"delegate","app":"mail","task":"Read.","inputs":[],"may":[],"at_most":30}],"answer":{"step":"s","pointer":""}}`
	for name, c := range map[string]struct {
		limits hub.Limits
		most   int64
	}{
		"turns":  {hub.Limits{TaskTurns: 2}, 2},
		"calls":  {hub.Limits{TaskCalls: 1}, 4},
		"tokens": {hub.Limits{TaskTokens: 30}, 3},
		"none":   {hub.Limits{}, 64},
	} {
		t.Run(name, func(t *testing.T) {
			var calls atomic.Int64
			s := open(t, hub.Config{
				LLM: restless(&calls), Apps: apps((&postOffice{}).app()), Limits: c.limits, Planner: plans(map[string]string{"read": plan}),
			})
			a, err := s.Ask(t.Context(), "read")
			require.NoError(t, err)
			require.Equal(t, isc.StatusBudget, a.Steps[0].Status)
			require.LessOrEqual(t, calls.Load(), c.most)
			if name == "none" {
				require.Greater(t, calls.Load(), int64(4), "the defaults are wider than what the others set")
			}
		})
	}
}

func TestTheTimeForADialogIsTheLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, err := hub.New(hub.Config{
			LLM: noModel(), Launcher: spoke.InProcess(), Apps: apps((&postOffice{}).app()), Limits: hub.Limits{Prompt: 3 * time.Second},
			Planner: plans(map[string]string{"mail bob@example.test": sendPlan}),
			Consent: permission.PrompterFunc(func(ctx context.Context, _ permission.Request) (permission.Answer, error) {
				<-ctx.Done()
				return permission.Answer{}, ctx.Err()
			}),
		})
		require.NoError(t, err)
		s, err := h.Session(hub.SessionConfig{User: "ada"})
		require.NoError(t, err)
		start := time.Now()
		a, err := s.Ask(t.Context(), "mail bob@example.test")
		require.NoError(t, err)
		require.True(t, a.Refused)
		require.Equal(t, 3*time.Second, time.Since(start))
		require.NoError(t, h.Close())
	})
}

func TestReplanningIsBounded(t *testing.T) {
	planned := 0
	s := open(t, hub.Config{
		Apps: apps((&postOffice{}).app()),
		Planner: planner.Func(func(context.Context, planner.Input) (*planner.Plan, error) {
			planned++
			return planner.DecodePlan([]byte(strings.Replace(sendPlan, `{"steps"`, `{"replan":2,"steps"`, 1)))
		}),
	})
	a, err := s.Ask(t.Context(), "mail bob@example.test")
	require.NoError(t, err)
	require.True(t, a.Refused)
	require.Equal(t, 1+planner.MaxReplan, planned)
	require.Len(t, a.Steps, planned, "every attempt is told")
}
