package spoke_test

import (
	"errors"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
)

// keeping is a launcher that keeps one process ready, and has it.
func keeping(t *testing.T, cfg spoke.ProcessConfig) *spoke.ProcessLauncher {
	t.Helper()
	cfg.Warm = 1
	l := spoke.Process(cfg)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	_, err := l.Probe(t.Context())
	require.NoError(t, err)
	filled(t, l)
	return l
}

func filled(t *testing.T, l *spoke.ProcessLauncher) {
	t.Helper()
	require.Eventually(t, func() bool { return l.Idle() == 1 }, 20*time.Second, time.Millisecond)
}

func TestAProcessKeptReadyServesOneSpokeAndNoOther(t *testing.T) {
	for name, cfg := range everyKind() {
		t.Run(name, func(t *testing.T) {
			l := keeping(t, cfg)
			var used []string
			for range 3 {
				filled(t, l)
				ready := children()
				require.Len(t, ready, 1)
				require.NotContains(t, used, ready[0])
				i, err := l.Launch(t.Context(), spoke.Spec{App: jail("jail")})
				require.NoError(t, err)
				require.Contains(t, children(), ready[0], "it was taken, not replaced")
				answer(t, i, "pid", "")
				require.NoError(t, i.Conn.Close())
				require.NotContains(t, children(), ready[0], "it ends with its spoke")
				used = append(used, ready...)
			}
		})
	}
}

func TestAProcessKeptReadyIsReplacedWhenItDies(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGSTOP} {
		t.Run(signal.String(), func(t *testing.T) {
			l := keeping(t, quick)
			first := children()
			require.Len(t, first, 1)
			require.NoError(t, syscall.Kill(number(t, first[0]), signal))
			require.Eventually(t, func() bool {
				now := children()
				return l.Idle() == 1 && len(now) == 1 && !slices.Equal(first, now)
			}, 20*time.Second, time.Millisecond)
		})
	}
}

func TestReplacingEndsWhereProcessesKeepDying(t *testing.T) {
	l := keeping(t, quick)
	for range 3 {
		filled(t, l)
		before := l.Failures()
		require.NoError(t, syscall.Kill(number(t, children()[0]), syscall.SIGKILL))
		require.Eventually(t, func() bool { return l.Failures() == before+1 }, 20*time.Second, time.Millisecond)
	}
	require.Zero(t, l.Idle())
	i, err := l.Launch(t.Context(), spoke.Spec{App: jail("jail")})
	require.NoError(t, err, "a Launch starts its own")
	require.NoError(t, i.Conn.Close())
	filled(t, l)
}

func TestReplacingEndsWhereNothingStarts(t *testing.T) {
	cfg := quick
	cfg.Warm, cfg.Program = 2, "/none"
	l := spoke.Process(cfg)
	for range 2 {
		_, err := l.Launch(t.Context(), spoke.Spec{App: jail("jail")})
		require.ErrorContains(t, err, "no such file", "Launch says why")
		require.Eventually(t, func() bool { return l.Failures() == 3 }, 10*time.Second, time.Millisecond)
	}
	require.NoError(t, l.Close())
}

func TestCloseOfALauncherLeavesItsSpokes(t *testing.T) {
	l := keeping(t, quick)
	i, err := l.Launch(t.Context(), spoke.Spec{App: jail("jail")})
	require.NoError(t, err)
	require.NoError(t, l.Close())
	require.NoError(t, l.Close())
	require.Len(t, children(), 1)
	answer(t, i, "pid", "")
	_, err = l.Launch(t.Context(), spoke.Spec{App: jail("jail")})
	require.ErrorContains(t, err, "closed")
	require.NoError(t, i.Conn.Close())
	require.Empty(t, children())
}

func number(t *testing.T, pid string) int {
	t.Helper()
	n, err := strconv.Atoi(pid)
	require.NoError(t, err)
	return n
}

func TestAProcessKeptReadyIsEndedWhereMoreIsRequired(t *testing.T) {
	l := keeping(t, quick)
	_, err := l.Launch(t.Context(), spoke.Spec{App: jail("jail"), Require: unheard})
	unmet, ok := errors.AsType[*spoke.UnmetError](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, isc.AppID("jail"), unmet.App)
	require.Equal(t, unheard, unmet.Missing)
}
