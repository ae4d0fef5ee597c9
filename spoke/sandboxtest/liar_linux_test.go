package sandboxtest_test

import (
	"context"
	"errors"
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
	"github.com/isolategpt/isolategpt/spoke/sandboxtest"
)

// launcherFunc makes a launcher of a function.
type launcherFunc func(context.Context, spoke.Spec) (*spoke.Instance, error)

func (f launcherFunc) Launch(ctx context.Context, spec spoke.Spec) (*spoke.Instance, error) {
	return f(ctx, spec)
}

// liar confines nothing and claims everything.
func liar(ctx context.Context, spec spoke.Spec) (*spoke.Instance, error) {
	i, err := sandboxtest.Unconfined().Launch(ctx, spec)
	if err == nil {
		i.Isolation = isc.Isolation{Name: "liar", Has: isc.FullIsolation}
	}
	return i, err
}

func TestALauncherThatLiesIsFoundOut(t *testing.T) {
	rows, err := sandboxtest.Run(t.Context(), sandboxtest.Config{Confined: launcherFunc(liar), Control: sandboxtest.Unconfined()})
	require.NoError(t, err)
	require.Len(t, rows, len(sandboxtest.Attacks()))
	found := 0
	for _, r := range rows {
		require.Equal(t, "liar", r.Isolation)
		require.Equal(t, r.Guarantee != 0, r.Claimed, r.Attack)
		require.Equal(t, r.Control, !r.Refused, "%s ends differently the second time: %s", r.Attack, r.Detail)
		require.Equal(t, r.Control && r.Guarantee != 0, r.Contradicts(), r.Attack)
		require.False(t, r.Counts(), r.Attack)
		if r.Contradicts() {
			found++
		}
	}
	require.GreaterOrEqual(t, found, 90, "attacks work unconfined")
	t.Logf("%d of %d attacks work unconfined", found, len(rows))
}

func TestASpokeThatServesNothingHoldsNothing(t *testing.T) {
	mute := launcherFunc(func(context.Context, spoke.Spec) (*spoke.Instance, error) {
		hub, far := isc.Pipe()
		require.NoError(t, far.Close())
		return &spoke.Instance{Conn: hub, Isolation: isc.Isolation{Name: "mute", Has: isc.FullIsolation}}, nil
	})
	_, err := sandboxtest.Run(t.Context(), sandboxtest.Config{Confined: mute, Control: sandboxtest.Unconfined()})
	require.ErrorContains(t, err, "spokes do not serve")
}

func TestWhatCannotBeLaunchedIsAnError(t *testing.T) {
	unmet := launcherFunc(func(context.Context, spoke.Spec) (*spoke.Instance, error) {
		return nil, &spoke.UnmetError{App: "sandboxtest", Missing: isc.NoFiles}
	})
	_, err := sandboxtest.Run(t.Context(), sandboxtest.Config{Confined: unmet, Control: sandboxtest.Unconfined()})
	e, ok := errors.AsType[*spoke.UnmetError](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, isc.NoFiles, e.Missing)
}

func TestRunRefusesWhatItCannotDo(t *testing.T) {
	l := sandboxtest.Unconfined()
	for name, cfg := range map[string]sandboxtest.Config{
		"no launcher":       {Control: l},
		"no control":        {Confined: l},
		"an unknown attack": {Confined: l, Control: l, Attacks: []string{"uname", "nonsense"}},
		"an unmet demand":   {Confined: l, Control: l, Require: isc.NoFiles},
		"the canary's name": {Confined: l, Control: l, Attacks: []string{"none"}},
	} {
		rows, err := sandboxtest.Run(t.Context(), cfg)
		require.Error(t, err, name)
		require.Empty(t, rows, name)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stop")
	cancel(stop)
	_, err := sandboxtest.Run(ctx, sandboxtest.Config{Confined: l, Control: l})
	require.ErrorIs(t, err, stop)
}

// TestTheControlLaunchesTheAppAlone: another app is no unmet guarantee.
func TestTheControlLaunchesTheAppAlone(t *testing.T) {
	for name, c := range map[string]struct {
		spec  spoke.Spec
		unmet isc.Guarantees
	}{
		"no app":   {spoke.Spec{}, 0},
		"a demand": {spoke.Spec{App: sandboxtest.App(), Require: isc.NoFiles}, isc.NoFiles},
		"both":     {spoke.Spec{Require: isc.NoFiles}, 0},
	} {
		_, err := sandboxtest.Unconfined().Launch(t.Context(), c.spec)
		require.Error(t, err, name)
		unmet, ok := errors.AsType[*spoke.UnmetError](err)
		require.Equal(t, c.unmet != 0, ok, "%s: %v", name, err)
		if ok {
			require.Equal(t, c.unmet, unmet.Missing, name)
		}
	}
}

func TestNothingOfARunIsLeft(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	before := descriptors(t)
	for range 2 {
		_, err := sandboxtest.Run(t.Context(), sandboxtest.Config{
			Confined: sandboxtest.Unconfined(), Control: sandboxtest.Unconfined(),
			Attacks: []string{"create", "exec-shell", "start-process", "mqueue", "signal-sibling", "tcp-connect", "descriptor"},
		})
		require.NoError(t, err)
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
	require.LessOrEqual(t, descriptors(t), before+2, "the runtime may have opened its own")
}

func descriptors(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return len(all)
}

func TestAttacks(t *testing.T) {
	all := sandboxtest.Attacks()
	require.GreaterOrEqual(t, len(all), 57)
	names, broken := map[string]bool{}, isc.Guarantees(0)
	for _, p := range all {
		require.Regexp(t, regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`), p.Name)
		require.False(t, names[p.Name], "%s is there twice", p.Name)
		require.NotEmpty(t, p.Description, p.Name)
		if p.Guarantee == 0 {
			require.Contains(t, []string{"uname", "threads", "threads-many", "dumpable", "userfaultfd"}, p.Name, "what is promised to nobody")
		}
		names[p.Name] = true
		broken |= p.Guarantee
	}
	require.Equal(t, isc.FullIsolation.Without(isc.CrashIsolation), broken, "each guarantee is attacked, but that a crash is its own")
}
