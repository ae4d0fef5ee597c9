//go:build !linux || !(amd64 || arm64)

package sandbox_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/internal/sandbox"
)

var children map[string]func() error

func keepToItself() {}

func TestConfineIsForLinux(t *testing.T) {
	_, err := sandbox.Confine(sandbox.Profile{Memory: 1, Files: 1, Hub: 2})
	require.ErrorIs(t, err, errors.ErrUnsupported)
	require.ErrorIs(t, sandbox.Exec(sandbox.Program{Path: "/bin/true"}), errors.ErrUnsupported)
}
