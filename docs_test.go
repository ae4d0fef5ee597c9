package isolategpt_test

import (
	"go/ast"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Both commands that the README opens with. The pipeline runs them too.
var openingCommands = []string{"go run ./examples/casestudies", "go test ./..."}

func TestReadmeCommandsAreThoseOfThePipeline(t *testing.T) {
	readme, pipeline := read(t, "README.md"), read(t, filepath.Join(".ci", "run"))
	for _, command := range openingCommands {
		require.Contains(t, readme, "\n"+command+"\n")
		require.Contains(t, pipeline, command)
	}
}

// TestReadmeCodeIsCompiled demands that each Go block of the README stands, but
// for indentation, in a program or example that is built with the tests.
func TestReadmeCodeIsCompiled(t *testing.T) {
	compiled := flush(read(t, "example_test.go")) + flush(read(t, filepath.Join("examples", "quickstart", "main.go")))
	blocks := regexp.MustCompile("(?s)\n```go\n(.*?)\n```\n").FindAllStringSubmatch(read(t, "README.md"), -1)
	require.NotEmpty(t, blocks)
	for _, b := range blocks {
		require.Contains(t, compiled, flush(b[1]))
	}
}

// flush takes the indentation off every line.
func flush(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		out.WriteString(strings.TrimSpace(line) + "\n")
	}
	return out.String()
}

var (
	namedTest = regexp.MustCompile("`([a-z/]+)\\.((?:Test|Fuzz|Example|Benchmark)\\w*)`")
	bareTest  = regexp.MustCompile("`(?:Test|Fuzz|Benchmark)[A-Z]\\w*`")
	namedFile = regexp.MustCompile("`([\\w.-]+(?:/[\\w.-]+)*\\.(?:go|txtar|md|yml))`")
	link      = regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
)

// TestDocsNameWhatExists holds the documents to the tree: every test, file and
// link that they name is there. Tests are named with their package,
// `isc.TestCanonicalForm`, and those at the root with "root".
func TestDocsNameWhatExists(t *testing.T) {
	known := functions(t)
	for name, text := range documents(t) {
		for _, m := range namedTest.FindAllStringSubmatch(text, -1) {
			if !known[m[1]+"."+m[2]] {
				t.Errorf("%s names the test %s of package %s, which is not there", name, m[2], m[1])
			}
		}
		require.NotRegexp(t, bareTest, text, "%s names a test without its package", name)
		for _, m := range namedFile.FindAllStringSubmatch(text, -1) {
			requireFile(t, name, m[1])
		}
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			requireFile(t, name, path.Join(path.Dir(name), m[1]))
		}
	}
}

func requireFile(t *testing.T, document, file string) {
	t.Helper()
	if _, err := os.Stat(filepath.FromSlash(file)); err != nil {
		t.Errorf("%s names %s, which is not there", document, file)
	}
}

// The rows that docs/security.md must have: each promise, attack, rule and known
// defect is either held by a test or said to be open.
var securityRows = map[string]int{"P": 12, "A": 9, "B": 11, "C": 9, "D": 7, "E": 6, "ACE ": 3, "Rule ": 9, "Defect ": 11}

func TestSecurityTableIsComplete(t *testing.T) {
	rows := map[string]string{}
	for line := range strings.Lines(read(t, filepath.Join("docs", "security.md"))) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			continue
		}
		id := strings.TrimSpace(cells[1])
		_, twice := rows[id]
		require.False(t, twice && regexp.MustCompile(`\d$`).MatchString(id), "%s stands there twice", id)
		rows[id] = cells[3]
	}
	for prefix, n := range securityRows {
		for i := range n {
			id := prefix + strconv.Itoa(i+1)
			held, ok := rows[id]
			require.True(t, ok, "there is no row for %s", id)
			require.True(t, namedTest.MatchString(held) || strings.Contains(held, "not yet: "),
				"%s names no test and does not say why", id)
		}
	}
}

// TestDirectDependenciesAreJustified demands a paragraph of docs/RATIONALE.md for
// each module that go.mod requires directly.
func TestDirectDependenciesAreJustified(t *testing.T) {
	rationale := read(t, filepath.Join("docs", "RATIONALE.md"))
	for line := range strings.Lines(read(t, "go.mod")) {
		words := strings.Fields(strings.TrimPrefix(line, "require "))
		if len(words) == 2 && strings.Contains(words[0], ".") && strings.HasPrefix(words[1], "v") {
			require.True(t, strings.Contains(rationale, "**"+words[0]+"**"), "%s has no reason", words[0])
		}
	}
}

// functions are the test functions of all packages, "dir.TestName", those of
// conformance suites too.
func functions(t *testing.T) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for dir, files := range sources(t) {
		if dir == "." {
			dir = "root"
		}
		for _, f := range files {
			for _, d := range f.syntax.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
					out[dir+"."+fn.Name.Name] = true
				}
			}
		}
	}
	return out
}

// documents are the texts of all Markdown files, by path with slashes.
func documents(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git") {
			return filepath.SkipDir
		}
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".md") {
			return err
		}
		out[filepath.ToSlash(name)] = read(t, name)
		return nil
	})
	require.NoError(t, err)
	return out
}

func read(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(name)
	require.NoError(t, err)
	return strings.ReplaceAll(string(raw), "\r\n", "\n")
}
