package wasm_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
	"github.com/isolategpt/isolategpt/spoke/spoketest"
	"github.com/isolategpt/isolategpt/spoke/wasm"
)

// asModule launches the suite's app as the module that was built of it.
type asModule struct{ app *wasm.App }

func (l asModule) Launch(ctx context.Context, spec spoke.Spec) (*spoke.Instance, error) {
	if spec.App != nil {
		spec.App = l.app
	}
	return wasm.Launcher{Other: spoke.InProcess()}.Launch(ctx, spec)
}

func TestLauncher(t *testing.T) {
	a := app(t)
	require.Equal(t, spoketest.Apps()[0].Manifest().Digest(), a.Manifest().Digest())
	spoketest.TestLauncher(t, func(testing.TB) spoke.Launcher { return asModule{a} })
}

func TestLauncherClaimsWhatProbesShowed(t *testing.T) {
	i, err := wasm.Launcher{}.Launch(t.Context(), spoke.Spec{App: app(t), Require: isc.FullIsolation, Prefer: isc.DefenceInDepth})
	require.NoError(t, err)
	require.Equal(t, "wasm", i.Isolation.Name)
	require.Equal(t, isc.FullIsolation, i.Isolation.Has)
	require.Equal(t, isc.DefenceInDepth, i.Isolation.Lacks)
	require.NoError(t, i.Conn.Close())
}

func TestLauncherRunsNothingThatLacksWhatIsRequired(t *testing.T) {
	_, err := wasm.Launcher{}.Launch(t.Context(), spoke.Spec{App: app(t), Require: isc.DefenceInDepth})
	unmet, ok := errors.AsType[*spoke.UnmetError](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, isc.DefenceInDepth, unmet.Missing)
	require.Equal(t, isc.AppID("workshop"), unmet.App)
}

func TestLauncherRunsNothingButModules(t *testing.T) {
	for _, spec := range []spoke.Spec{{}, {App: spoketest.Apps()[0]}, {App: (*wasm.App)(nil)}} {
		_, err := wasm.Launcher{}.Launch(t.Context(), spec)
		unmet, ok := errors.AsType[*spoke.UnmetError](err)
		require.True(t, ok, "%v", err)
		require.Equal(t, isc.FullIsolation, unmet.Missing)
	}
}
