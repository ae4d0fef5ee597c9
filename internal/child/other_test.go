//go:build !unix

package child_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/internal/child"
)

func actAsChild() {}

func TestThereAreNoProcessesHere(t *testing.T) {
	_, err := child.Start(child.Config{Name: "x"})
	require.ErrorIs(t, err, errors.ErrUnsupported)
	require.ErrorIs(t, child.Namespaces(), errors.ErrUnsupported)
}
