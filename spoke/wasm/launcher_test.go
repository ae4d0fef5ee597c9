package wasm_test

import (
	"context"
	"errors"
	"regexp"
	"strings"
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
	own := launcher
	own.Other = spoke.InProcess()
	return own.Launch(ctx, spec)
}

func TestLauncher(t *testing.T) {
	a := app(t)
	require.Equal(t, spoketest.Apps()[0].Manifest().Digest(), a.Manifest().Digest())
	spoketest.TestLauncher(t, func(testing.TB) spoke.Launcher { return asModule{a} })
}

// TestLauncherInterpreted goes through those cases of the suite in which the
// module has the most to do. Each takes the interpreter a second or more.
func TestLauncherInterpreted(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes the interpreter some seconds")
	}
	a := loaded(t, interpreted)
	some := regexp.MustCompile(`/(a call runs|B10 errors and panics|another functionality|what a handler may ask|a host of the manifest` +
		`|what is required and not|a spoke that hangs|E6 a spoke's crash)`)
	spoketest.TestLauncher(t, func(tb testing.TB) spoke.Launcher {
		if !some.MatchString(strings.ReplaceAll(tb.Name(), "_", " ")) {
			tb.Skip("the same with either engine")
		}
		return asModule{a}
	})
}

func TestLauncherClaimsWhatProbesShowed(t *testing.T) {
	a, err := openRaw(t, raw(saysManifest, answers), wasm.Config{})
	require.NoError(t, err)
	probed, err := wasm.Launcher{}.Probe(t.Context())
	require.NoError(t, err)
	i, err := wasm.Launcher{}.Launch(t.Context(), spoke.Spec{App: a, Require: isc.FullIsolation, Prefer: isc.FullIsolation})
	require.NoError(t, err)
	require.NoError(t, i.Conn.Close())
	require.Equal(t, probed, i.Isolation)
	require.Equal(t, "wasm", probed.Name)
	require.Equal(t, isc.FullIsolation, probed.Has)
	require.Equal(t, isc.DefenceInDepth, probed.Lacks)
}

// TestLauncherDoesNotClaimWhatACompilerBreaks holds that a module which the
// compiler may die of is not said to harm nobody.
func TestLauncherDoesNotClaimWhatACompilerBreaks(t *testing.T) {
	a, err := openRaw(t, raw(saysManifest, answers), wasm.Config{Compile: true})
	require.NoError(t, err)
	unbounded := isc.CrashIsolation | isc.MemoryLimit
	_, err = wasm.Launcher{}.Launch(t.Context(), spoke.Spec{App: a})
	unmet, ok := errors.AsType[*spoke.UnmetError](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, unbounded, unmet.Missing)
	_, err = launcher.Launch(t.Context(), spoke.Spec{App: a, Require: isc.FullIsolation})
	require.ErrorAs(t, err, &unmet, "what the hub requires is not waived here")
	i, err := launcher.Launch(t.Context(), spoke.Spec{App: a})
	require.NoError(t, err)
	require.NoError(t, i.Conn.Close())
	require.Equal(t, isc.FullIsolation.Without(unbounded), i.Isolation.Has)
	require.Equal(t, unbounded|isc.DefenceInDepth, i.Isolation.Lacks)
}

func TestLauncherRunsNothingThatLacksWhatIsRequired(t *testing.T) {
	a, err := openRaw(t, raw(saysManifest, answers), wasm.Config{})
	require.NoError(t, err)
	_, err = wasm.Launcher{}.Launch(t.Context(), spoke.Spec{App: a, Require: isc.DefenceInDepth})
	unmet, ok := errors.AsType[*spoke.UnmetError](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, isc.DefenceInDepth, unmet.Missing)
	require.Equal(t, isc.AppID("raw"), unmet.App)
}

func TestLauncherRunsNothingButModules(t *testing.T) {
	for app, spec := range map[isc.AppID]spoke.Spec{"": {}, "workshop": {App: spoketest.Apps()[0]}} {
		_, err := wasm.Launcher{}.Launch(t.Context(), spec)
		unmet, ok := errors.AsType[*spoke.UnmetError](err)
		require.True(t, ok, "%v", err)
		require.Equal(t, isc.FullIsolation, unmet.Missing)
		require.Equal(t, app, unmet.App)
		require.Equal(t, isc.FullIsolation|isc.DefenceInDepth, unmet.Isolation.Lacks)
	}
	_, err := wasm.Launcher{}.Launch(t.Context(), spoke.Spec{App: (*wasm.App)(nil)})
	require.Error(t, err)
}
