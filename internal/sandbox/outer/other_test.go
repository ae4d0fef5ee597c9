//go:build !linux || !(amd64 || arm64)

package outer_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/internal/sandbox/outer"
)

func found() []string { return nil }

func TestExecIsForLinux(t *testing.T) {
	require.ErrorIs(t, outer.Exec(nil, []string{"true"}), errors.ErrUnsupported)
}
