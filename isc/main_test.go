package isc_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// caseFile reads a file of the shared corpus of real bugs, where there is one.
func caseFile(t *testing.T, name string) []byte {
	t.Helper()
	root := os.Getenv("ISOLATEGPT_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "shared")
	}
	raw, err := os.ReadFile(filepath.Join(root, "cases", filepath.FromSlash(name)))
	if os.IsNotExist(err) {
		t.Skip("the corpus of cases is not here; set ISOLATEGPT_SHARED")
	}
	require.NoError(t, err)
	return raw
}
