package sandboxtest

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLauncher tries all attacks of cfg. It fails where one worked although the
// isolation claims what it breaks, and where so few work in spokes of the control
// that the refusals show little. The test of each attack is a subtest; it is
// skipped where the control fails. It gives all rows.
func TestLauncher(t *testing.T, cfg Config) []Row {
	t.Helper()
	rows, err := Run(t.Context(), cfg)
	require.NoError(t, err)
	controls := 0
	for _, r := range rows {
		if r.Control {
			controls++
		}
		t.Run(r.Attack, func(t *testing.T) {
			require.False(t, r.Contradicts(), "it works, although %q claims %s: %s", r.Isolation, r.Guarantee, r.Detail)
			if !r.Control {
				t.Skip(r.Detail)
			}
		})
	}
	require.GreaterOrEqual(t, controls, cfg.leastControls(len(rows)), "too few attacks work without confinement to show anything")
	return rows
}

func (c Config) leastControls(attacks int) int {
	switch {
	case c.Controls > 0:
		return c.Controls
	case c.Attacks != nil:
		return 0
	case os.Getuid() == 0:
		return attacks * 3 / 4
	default:
		return attacks * 2 / 3
	}
}
