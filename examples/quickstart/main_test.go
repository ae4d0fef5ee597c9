package main

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/isolategpt/isolategpt/hub"
	"github.com/isolategpt/isolategpt/permission"
	"github.com/isolategpt/isolategpt/spoke"
)

func TestMain(m *testing.M) {
	apps, err := install()
	if err != nil {
		panic(err)
	}
	spoke.Main(apps...)
	goleak.VerifyTestMain(m)
}

func TestQuickstart(t *testing.T) {
	for _, c := range []struct {
		decision permission.Decision
		refused  bool
		text     string
	}{
		{permission.AllowOnce, false, "It is 4 degrees in Oslo. I noted it as number 1."},
		{permission.Deny, true, "Nothing was done"},
	} {
		var asked []permission.Kind
		person := permission.PrompterFunc(func(_ context.Context, r permission.Request) (permission.Answer, error) {
			asked = append(asked, r.Kind)
			return r.Answer(c.decision), nil
		})
		apps, err := install()
		require.NoError(t, err)
		launcher, end := strongest(t.Context())
		answer, err := ask(t.Context(), hub.Config{LLM: canned, Apps: apps, Consent: person, Launcher: launcher}, "How warm is it in Oslo? Note it down.")
		end()
		require.NoError(t, err)
		require.Equal(t, c.refused, answer.Refused)
		require.Contains(t, answer.Text, c.text)
		require.Equal(t, []permission.Kind{permission.ApprovePlan}, asked)
	}
}

func TestOpen(t *testing.T) {
	_, err := open("m", "not a url")
	require.ErrorContains(t, err, "BaseURL")
	m, err := open("m", "http://127.0.0.1:1/v1")
	require.NoError(t, err)
	require.NotNil(t, m)
}
