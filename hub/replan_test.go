package hub_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/hub"
	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/permission"
	"github.com/isolategpt/isolategpt/planner"
)

// TestARefusedSecondPlanTellsWhatWasDone: the first plan changed something before
// a step of it failed. That the second is denied does not undo it.
func TestARefusedSecondPlanTellsWhatWasDone(t *testing.T) {
	v := &vault{}
	p := &person{}
	p.answer = func(r permission.Request) permission.Answer {
		if len(p.asked) > 1 {
			return r.Answer(permission.Deny)
		}
		return saysYes(r)
	}
	attempts := 0
	s := open(t, hub.Config{Apps: apps(v.app()), Consent: p, Planner: planner.Func(func(_ context.Context, in planner.Input) (*planner.Plan, error) {
		attempts++
		require.Equal(t, attempts > 1, len(in.Failed) > 0)
		return planner.DecodePlan([]byte(`{"steps":[
			{"id":"s","do":"call","functionality":"vault.save","args":{"text":"x"}},
			{"id":"c","do":"call","functionality":"vault.crash","args":{"text":"x"}}],
			"answer":{"template":["Done ",{"step":"c","pointer":"/id"}]},"replan":1}`))
	})})
	e := runs(t, s, "go")
	require.NoError(t, e.err)
	require.Equal(t, 2, attempts)
	require.Equal(t, []string{permission.ApprovePlan.String(), permission.ApprovePlan.String()}, p.kinds())
	require.Len(t, v.done("vault.save"), 1)
	require.False(t, e.answer.Refused, "something was done")
	require.NotContains(t, e.answer.Text, "Nothing was done")
	require.Contains(t, e.answer.Text, "vault.save by vault")
	require.NotContains(t, e.answer.Text, "vault.crash")
	require.Len(t, e.answer.Steps, 2)
	require.Equal(t, isc.StatusDone, e.answer.Steps[0].Status)
	require.Equal(t, isc.StatusFailed, e.answer.Steps[1].Status)
}
