//go:build !linux

package sandboxtest_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/spoke/sandboxtest"
)

func lose() error { return nil }

func TestOtherSystemsHaveNoAttacks(t *testing.T) {
	require.Empty(t, sandboxtest.Attacks())
	require.NotPanics(t, func() { sandboxtest.App() })
	_, err := sandboxtest.Run(t.Context(), sandboxtest.Config{Confined: sandboxtest.Unconfined(), Control: sandboxtest.Unconfined()})
	require.ErrorIs(t, err, errors.ErrUnsupported)
}
