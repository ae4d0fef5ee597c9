package main

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/permission"
	"github.com/isolategpt/isolategpt/spoke"
)

func TestMain(m *testing.M) {
	spoke.Main()
	goleak.VerifyTestMain(m)
}

// agreeing is a person who allows what is asked.
var agreeing = permission.PrompterFunc(func(_ context.Context, r permission.Request) (permission.Answer, error) {
	return r.Answer(permission.AllowOnce), nil
})

func TestWasmapp(t *testing.T) {
	for _, in := range []string{"wasm", ""} {
		t.Run(in, func(t *testing.T) {
			p, err := install(t.Context(), t.TempDir(), in)
			require.NoError(t, err)
			defer p.close()
			answer, isolation, err := ask(t.Context(), p, agreeing)
			require.NoError(t, err)
			require.Equal(t, "It has 9 words. The app saw 0 files and 0 variables.", answer)
			require.True(t, isolation.Has.Has(isc.FullIsolation), "%s", isolation)
			require.Equal(t, p.process != nil, isolation.Name == "process")
		})
	}
}

func TestWithoutTheGoTool(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := install(t.Context(), t.TempDir(), "wasm")
	require.ErrorIs(t, err, errNoGo)
}

func TestNoSuchIsolation(t *testing.T) {
	_, err := install(t.Context(), t.TempDir(), "a box")
	require.ErrorContains(t, err, "process and wasm")
}
