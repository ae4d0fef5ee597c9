package isolategpt_test

import (
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPackagesHaveComments demands one comment for each package: a sentence
// that begins with the package's name, a program's with its own, and where what
// it does comes from.
func TestPackagesHaveComments(t *testing.T) {
	for dir, files := range sources(t) {
		var comments []string
		name := ""
		for _, f := range files {
			if f.test {
				continue
			}
			name = f.syntax.Name.Name
			if f.syntax.Doc != nil {
				comments = append(comments, f.syntax.Doc.Text())
			}
		}
		if name == "" {
			continue // tests alone
		}
		if len(comments) != 1 {
			t.Errorf("package %s has %d package comments, not one", dir, len(comments))
			continue
		}
		begin := "Package " + name + " "
		if name == "main" {
			base := path.Base(dir)
			begin = strings.ToUpper(base[:1]) + base[1:] + " "
		}
		require.True(t, strings.HasPrefix(comments[0], begin), "the comment of %s does not begin with %q", dir, begin)
		require.Contains(t, comments[0], "\n# Source\n", "the comment of %s does not say where it comes from", dir)
	}
}
