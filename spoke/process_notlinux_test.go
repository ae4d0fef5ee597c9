//go:build unix && !linux

package spoke_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
	"github.com/isolategpt/isolategpt/spoke/spoketest"
)

// Where a process cannot be confined it is refused, unless what it lacks is
// waived by name.
func TestProcessIsRefusedWhereItCannotBeConfined(t *testing.T) {
	spec := spoke.Spec{App: spoketest.Apps()[0]}
	_, err := spoke.Process(spoke.ProcessConfig{}).Launch(t.Context(), spec)
	var unmet *spoke.UnmetError
	require.ErrorAs(t, err, &unmet)
	require.Equal(t, isc.FullIsolation.Without(isc.CrashIsolation), unmet.Missing)
	i, err := spoke.Process(spoke.ProcessConfig{Waive: isc.FullIsolation}).Launch(t.Context(), spec)
	require.NoError(t, err)
	require.Equal(t, isc.CrashIsolation, i.Isolation.Has)
	require.NoError(t, i.Conn.Close())
}
