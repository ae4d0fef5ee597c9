package spoke_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
)

// Whoever is refused a spoke reads what to change: the layers that are missing,
// and what got through where none seems to be.
func TestUnmetErrorSaysWhy(t *testing.T) {
	err := &spoke.UnmetError{App: "mail", Missing: isc.NoExec, Isolation: isc.Isolation{Name: "process", Layers: []isc.Layer{
		{Name: "limits", Applied: true, Detail: "256 MiB"},
		{Name: "namespaces", Detail: "started without"},
		{Name: "attempts", Detail: "execute /bin/sh: bad address"},
	}}}
	require.EqualError(t, err, `spoke: app "mail" is not started: in isolation "process" it would lack no-exec; `+
		`no namespaces: started without; not refused: execute /bin/sh: bad address`)
}
