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

func TestProcessIsUnsupported(t *testing.T) {
	_, err := spoke.Process(spoke.ProcessConfig{}).Launch(t.Context(), spoke.Spec{})
	require.ErrorIs(t, err, errors.ErrUnsupported)
}
