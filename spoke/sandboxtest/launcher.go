package sandboxtest

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
)

// Options say more of [TestLauncher]. Zero fields mean the defaults.
type Options struct {
	// Probes, Memory, Parallel and Require are those of [Config].
	Probes   []string
	Memory   int64
	Parallel int
	Require  isc.Guarantees
	// Controls is how many attacks have to work unconfined for the result to mean
	// something. Default, for all probes: 60 as root, 50 as another user.
	Controls int
}

// TestLauncher tries all probes in spokes of confined. It fails where an attack
// worked although the isolation claims what it breaks, and where so few work in
// spokes of control that the refusals show little. The test of each probe is a
// subtest; it is skipped where the control fails. It gives all rows.
func TestLauncher(t *testing.T, confined, control spoke.Launcher, opts Options) []Row {
	t.Helper()
	rows, err := Run(t.Context(), Config{
		Confined: confined, Control: control, Require: opts.Require,
		Probes: opts.Probes, Memory: opts.Memory, Parallel: opts.Parallel,
	})
	require.NoError(t, err)
	controls := 0
	for _, r := range rows {
		if r.Control {
			controls++
		}
		t.Run(r.Probe, func(t *testing.T) {
			require.False(t, r.Contradicts(), "it works, although %q claims %s: %s", r.Isolation, r.Guarantee, r.Detail)
			if !r.Control {
				t.Skip(r.Detail)
			}
		})
	}
	require.GreaterOrEqual(t, controls, leastControls(opts), "too few attacks work without confinement to show anything")
	return rows
}

func leastControls(opts Options) int {
	switch {
	case opts.Controls > 0:
		return opts.Controls
	case opts.Probes != nil:
		return 0
	case os.Getuid() == 0:
		return 60
	default:
		return 50
	}
}
