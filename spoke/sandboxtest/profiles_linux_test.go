package sandboxtest_test

import (
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
	"github.com/isolategpt/isolategpt/spoke/sandboxtest"
)

// variableWithout names the layers that this process does without, with plus
// signs, or withoutNothing.
const (
	variableWithout = "SANDBOXTEST_WITHOUT"
	withoutNothing  = "nothing"
)

// Each profile is a process of its own, since what it gives up is gone for good.
func TestWithAllLayers(t *testing.T)     { inProfile(t, "TestProfileHolds", withoutNothing) }
func TestWithoutNamespaces(t *testing.T) { inProfile(t, "TestProfileHolds", "namespaces") }
func TestWithoutLandlock(t *testing.T)   { inProfile(t, "TestProfileHolds", "landlock") }

func TestWithSeccompAlone(t *testing.T) { inProfile(t, "TestProfileHolds", "landlock+namespaces") }

// Without a filter of system calls nothing is launched, rather than less held.
func TestWithoutSeccompNothingIsLaunched(t *testing.T) {
	inProfile(t, "TestProfileLaunchesNothing", "seccomp")
}

// With layers less and everything waived that this costs, what is claimed still
// holds.
func TestWithoutSeccompWhatIsClaimedHolds(t *testing.T) {
	inProfile(t, "TestProfileClaimsWhatHolds", "seccomp")
}

func TestWithLandlockAloneWhatIsClaimedHolds(t *testing.T) {
	inProfile(t, "TestProfileClaimsWhatHolds", "seccomp+namespaces")
}

func TestWithNamespacesAloneWhatIsClaimedHolds(t *testing.T) {
	inProfile(t, "TestProfileClaimsWhatHolds", "seccomp+landlock")
}

func TestWithoutAllLayersWhatIsClaimedHolds(t *testing.T) {
	inProfile(t, "TestProfileClaimsWhatHolds", "seccomp+landlock+namespaces")
}

var summary = regexp.MustCompile(`(?m)^.*\d+ attacks: .*$`)

func inProfile(t *testing.T, test, without string) {
	t.Helper()
	if raced && without != withoutNothing && without != "namespaces" {
		t.Skip("under the race detector it would take minutes, and show the same")
	}
	users(t, func(t *testing.T, asNobody bool) {
		out := again(t, test, asNobody, variableWithout+"="+without)
		for _, line := range summary.FindAllString(out, -1) {
			t.Log(line)
		}
	})
}

func TestProfileHolds(t *testing.T) {
	without := os.Getenv(variableWithout)
	if without == "" {
		t.Skip("for the tests of profiles, which start it")
	}
	l := spoke.Process(quick)
	defer func() { require.NoError(t, l.Close()) }()
	is, err := l.Probe(t.Context())
	require.NoError(t, err)
	require.True(t, is.Has.Has(isc.FullIsolation), "%s", is)
	require.True(t, applied(is, "seccomp"), "%+v", is.Layers)
	for layer := range strings.SplitSeq(without, "+") {
		require.False(t, applied(is, layer), "%+v", is.Layers)
	}
	require.False(t, strings.Contains(without, "namespaces") && is.Has.Has(isc.DefenceInDepth), "%s", is)

	rows := sandboxtest.TestLauncher(t, sandboxtest.Config{Confined: l, Control: sandboxtest.Unconfined()})
	refused, controls := 0, 0
	for _, r := range rows {
		if !r.Refused {
			require.Contains(t, []string{"uname", "threads"}, r.Attack, "nothing else works: %s", r.Detail)
		}
		if r.Control {
			controls++
		}
		if r.Counts() {
			refused++
		}
	}
	t.Logf("%d attacks: %d work unconfined, %d of these are refused; %s", len(rows), controls, refused, is)
}

func applied(i isc.Isolation, layer string) bool {
	return slices.ContainsFunc(i.Layers, func(l isc.Layer) bool { return l.Name == layer && l.Applied })
}

func TestProfileClaimsWhatHolds(t *testing.T) {
	if os.Getenv(variableWithout) == "" {
		t.Skip("for the tests of profiles, which start it")
	}
	cfg := quick
	cfg.Waive = isc.FullIsolation.Without(isc.CrashIsolation) // all would be: do not even try
	l := spoke.Process(cfg)
	defer func() { require.NoError(t, l.Close()) }()
	is, err := l.Probe(t.Context())
	require.NoError(t, err)
	rows := sandboxtest.TestLauncher(t, sandboxtest.Config{Confined: l, Control: sandboxtest.Unconfined()})
	works := 0
	for _, r := range rows {
		if !r.Refused {
			works++
		}
	}
	require.Greater(t, works, 5, "without seccomp much works")
	t.Logf("%d attacks: %d work; %s", len(rows), works, is)
}

func TestProfileLaunchesNothing(t *testing.T) {
	if os.Getenv(variableWithout) == "" {
		t.Skip("for the tests of profiles, which start it")
	}
	l := spoke.Process(quick)
	defer func() { require.NoError(t, l.Close()) }()
	_, err := l.Launch(t.Context(), spoke.Spec{App: sandboxtest.App()})
	e, ok := errors.AsType[*spoke.UnmetError](err)
	require.True(t, ok, "%v", err)
	require.NotZero(t, e.Missing&(isc.NoNetwork|isc.NoFiles|isc.NoExec), "%v", err)
	require.False(t, applied(e.Isolation, "seccomp"), "%+v", e.Isolation.Layers)
	t.Logf("0 attacks: %v", err)
}
