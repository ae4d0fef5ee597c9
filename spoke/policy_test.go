package spoke_test

import (
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Rule 2: operators are deterministic. This test is not to be relaxed to fix a
// build: what needs a model belongs to the agent or the host side.
func TestRule2TheOperatorImportsNoModel(t *testing.T) {
	for _, file := range []string{"operator.go", "conversation.go", "use.go", "lease.go", "app.go", "build.go", "func.go", "infer.go", "codec.go", "codec_composite.go", "infer_composite.go", "tag.go"} {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		require.NoError(t, err)
		for _, i := range f.Imports {
			path, err := strconv.Unquote(i.Path.Value)
			require.NoError(t, err)
			require.False(t, strings.Contains(path, "/llm") || strings.Contains(path, "/memory"), "%s imports %s", file, path)
		}
	}
}
