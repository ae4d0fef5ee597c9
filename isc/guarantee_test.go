package isc_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/isolategpt/isolategpt/isc"
)

func TestTheZeroGuaranteesGuaranteeNothing(t *testing.T) {
	var none isc.Guarantees
	require.Equal(t, "none", none.String())
	require.False(t, none.Has(isc.NoFiles))
	require.Equal(t, isc.FullIsolation, isc.FullIsolation.Without(none))
}

func TestFullIsolationIsAllButDefenceInDepth(t *testing.T) {
	require.False(t, isc.FullIsolation.Has(isc.DefenceInDepth))
	for g := isc.CrashIsolation; g < isc.DefenceInDepth; g <<= 1 {
		require.True(t, isc.FullIsolation.Has(g), "%s", g)
	}
}

func TestGuaranteesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := isc.Guarantees(rapid.Uint32Range(0, uint32(isc.DefenceInDepth)<<1-1).Draw(t, "set"))
		text, err := g.MarshalText()
		require.NoError(t, err)
		var back isc.Guarantees
		require.NoError(t, back.UnmarshalText(text))
		require.Equal(t, g, back)
	})
}

func TestUnknownGuaranteesAreRefused(t *testing.T) {
	_, err := (isc.DefenceInDepth << 1).MarshalText()
	require.ErrorContains(t, err, "unknown")
	for _, text := range []string{
		"", "everything", "no-files,no-exec", "No-Files", " no-files", "no-files, ", "no-files, no-files",
		"no-exec, no-files", "none, no-files", "no-files, none", "no-files, nothing",
	} {
		g := isc.NoPeers
		require.Error(t, g.UnmarshalText([]byte(text)), "%q", text)
		require.Equal(t, isc.NoPeers, g, "%q changed it", text)
	}
}

func FuzzGuaranteesText(f *testing.F) {
	for _, text := range []string{"none", "no-files", isc.FullIsolation.String(), "no-files, no-files", "unknown-20"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var g isc.Guarantees
		if g.UnmarshalText([]byte(text)) != nil {
			return
		}
		back, err := g.MarshalText()
		require.NoError(t, err)
		require.Equal(t, text, string(back))
	})
}

func TestIsolationSaysWhatItLacks(t *testing.T) {
	for name, c := range map[string]struct {
		isolation isc.Isolation
		degraded  string
	}{
		"nothing is guaranteed": {isc.Isolation{Name: "in-process"}, "everything: nothing is known to hold"},
		"all that was wanted":   {isc.Isolation{Name: "process", Has: isc.FullIsolation}, ""},
		"less than preferred":   {isc.Isolation{Name: "process", Has: isc.FullIsolation, Lacks: isc.DefenceInDepth}, "defence-in-depth"},
	} {
		require.Equal(t, c.degraded, c.isolation.Degraded(), name)
		require.True(t, strings.HasPrefix(c.isolation.String(), c.isolation.Name+": "), name)
	}
	require.Equal(t, "process: no-files; lacks defence-in-depth", isc.Isolation{Name: "process", Has: isc.NoFiles, Lacks: isc.DefenceInDepth}.String())
}

// What an isolation lacks means one thing, whoever launched it.
func TestWhatIsLackedIsWhatOfTheWantedDoesNotHold(t *testing.T) {
	const unheard isc.Guarantees = 1 << 20
	for name, c := range map[string]struct{ has, prefer, lacks isc.Guarantees }{
		"nothing":                {0, 0, isc.FullIsolation | isc.DefenceInDepth},
		"some":                   {isc.FullIsolation.Without(isc.NoExec), 0, isc.NoExec | isc.DefenceInDepth},
		"all":                    {isc.FullIsolation | isc.DefenceInDepth, 0, 0},
		"all, and more is liked": {isc.FullIsolation | isc.DefenceInDepth, unheard | isc.NoFiles, unheard},
	} {
		i := isc.Isolation{Name: "process", Has: c.has, Lacks: isc.NoPeers}.Preferring(c.prefer)
		require.Equal(t, c.lacks, i.Lacks, name)
		require.Equal(t, c.has, i.Has, name)
	}
}
