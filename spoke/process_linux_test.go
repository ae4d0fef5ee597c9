package spoke_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
	"github.com/isolategpt/isolategpt/spoke/spoketest"
)

// unheard is a guarantee that nothing gives.
const unheard isc.Guarantees = 1 << 30

func TestAProcessHasTheFullIsolation(t *testing.T) {
	i := start(t, quick, jail("jail"))
	require.True(t, i.Isolation.Has.Has(isc.FullIsolation), i.Isolation.String())
	require.Equal(t, "process", i.Isolation.Name)
	require.NotEmpty(t, i.Isolation.Layers)
	probed, err := spoke.Process(quick).Probe(t.Context())
	require.NoError(t, err)
	require.Equal(t, i.Isolation, probed)
	require.Len(t, children(), 1, "the probe left nothing")
}

func TestAnUnconfinedProcessClaimsNothingButItsOwnCrash(t *testing.T) {
	i := start(t, free, jail("jail"))
	require.Equal(t, isc.CrashIsolation, i.Isolation.Has)
	require.Equal(t, (isc.FullIsolation | isc.DefenceInDepth).Without(isc.CrashIsolation), i.Isolation.Lacks)
	require.Contains(t, i.Isolation.Degraded(), "no-network")
}

func TestWhatIsRequiredAndNotHadStartsNothing(t *testing.T) {
	for name, c := range map[string]struct {
		cfg     spoke.ProcessConfig
		require isc.Guarantees
	}{
		"unconfined":           {free, isc.NoFiles},
		"confined":             {quick, unheard},
		"waived and required":  {spoke.ProcessConfig{Waive: isc.FullIsolation}, isc.NoNetwork},
		"requires it all over": {free, isc.FullIsolation.Without(isc.CrashIsolation)},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := spoke.Process(c.cfg).Launch(t.Context(), spoke.Spec{App: jail("jail"), Require: c.require})
			unmet, ok := errors.AsType[*spoke.UnmetError](err)
			require.True(t, ok, "%v", err)
			require.Equal(t, isc.AppID("jail"), unmet.App)
			require.Equal(t, c.require, unmet.Missing)
			require.Empty(t, children())
		})
	}
}

func TestAWaivedGuaranteeHoldsWhereItCan(t *testing.T) {
	cfg := quick
	cfg.Waive = isc.NoNetwork | isc.MemoryLimit
	i := start(t, cfg, jail("jail"))
	require.True(t, i.Isolation.Has.Has(isc.FullIsolation), i.Isolation.String())
}

func TestWhatIsPreferredAndNotHadIsSaidAndWarnedOfOnce(t *testing.T) {
	var log bytes.Buffer
	cfg := quick
	cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
	l := spoke.Process(cfg)
	for range 2 {
		i, err := l.Launch(t.Context(), spoke.Spec{App: jail("jail"), Prefer: unheard})
		require.NoError(t, err)
		require.True(t, i.Isolation.Lacks.Has(unheard))
		require.NoError(t, i.Conn.Close())
	}
	require.Equal(t, 1, strings.Count(log.String(), "\n"), log.String())
	require.Contains(t, log.String(), "level=WARN")
	require.Contains(t, log.String(), "unknown-30")
}

func TestE6AStoppedSpokeIsKilledAtOnce(t *testing.T) {
	for name, cfg := range everyKind() {
		t.Run(name, func(t *testing.T) {
			i := start(t, cfg, jail("jail"))
			require.NoError(t, syscall.Kill(number(t, children()[0]), syscall.SIGSTOP))
			_, err := i.Conn.Recv(t.Context())
			e, ok := errors.AsType[*spoke.ProcessError](err)
			require.True(t, ok, "%v", err)
			require.Contains(t, e.State, "stopped")
		})
	}
}

func TestE6AKilledSpokeEndsRecvAtOnce(t *testing.T) {
	for name, cfg := range everyKind() {
		t.Run(name, func(t *testing.T) {
			i := start(t, cfg, jail("jail"))
			require.NoError(t, syscall.Kill(number(t, children()[0]), syscall.SIGKILL))
			_, err := i.Conn.Recv(t.Context())
			e, ok := errors.AsType[*spoke.ProcessError](err)
			require.True(t, ok, "%v", err)
			require.Equal(t, "signal: killed", e.State)
		})
	}
}

func TestProcessWithoutNamespaces(t *testing.T) {
	i, err := spoke.Process(quick).Flat().Launch(t.Context(), spoke.Spec{App: jail("jail")})
	require.NoError(t, err)
	require.True(t, i.Isolation.Has.Has(isc.FullIsolation), i.Isolation.String())
	require.Equal(t, isc.DefenceInDepth, i.Isolation.Lacks)
	require.NoError(t, i.Conn.Close())
	spoketest.TestLauncher(t, func(testing.TB) spoke.Launcher { return spoke.Process(quick).Flat() })
}
