package wasm

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
	"github.com/isolategpt/isolategpt/spoke/spoketest"
)

func TestUntrustedIsAProcessOrAModule(t *testing.T) {
	l, end := untrustedOn("linux", spoke.ProcessConfig{})
	require.IsType(t, &spoke.ProcessLauncher{}, l)
	require.NoError(t, end())

	for _, system := range []string{"darwin", "windows"} {
		l, end := untrustedOn(system, spoke.ProcessConfig{})
		_, err := l.Launch(t.Context(), spoke.Spec{App: spoketest.Apps()[0]})
		var unmet *spoke.UnmetError
		require.ErrorAs(t, err, &unmet, system)
		require.Equal(t, isc.AppID("workshop"), unmet.App)
		require.Equal(t, isc.FullIsolation, unmet.Missing)
		vanilla, err := l.Launch(t.Context(), spoke.Spec{})
		require.NoError(t, err)
		require.NoError(t, vanilla.Conn.Close())
		require.NoError(t, end())
	}
}
