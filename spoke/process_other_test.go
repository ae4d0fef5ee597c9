//go:build !unix

package spoke_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/spoke"
)

const hasProcesses = false

func childApps() []spoke.App { return nil }

func actAsParent() {}

func everyKind() map[string]spoke.ProcessConfig { return nil }

func TestProcessIsUnsupported(t *testing.T) {
	l := spoke.Process(spoke.ProcessConfig{})
	_, err := l.Launch(t.Context(), spoke.Spec{})
	require.ErrorIs(t, err, errors.ErrUnsupported)
	_, err = l.Probe(t.Context())
	require.ErrorIs(t, err, errors.ErrUnsupported)
	require.NoError(t, l.Close())
}
