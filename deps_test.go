package isolategpt_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/isolategpt/isolategpt"

// imports is the import policy: what each package, and in some packages what
// single files, may import besides the standard library. It is the architecture
// in one table, and part of what makes the library safe:
//
//   - hub and spoke share only the protocol, so that an isolation cannot be
//     gone around (hub.go, the composition of what a program supplies, is the
//     one file of hub that knows spokes);
//   - operators have no model: none can be imported where they are (rule 2);
//   - the core needs one third-party package, in one place, and what confines a
//     process the numbers of its system.
//
// A package without a row fails, and so does a row without a package. The row
// of a file stands in for that of its package. Names without a dot are packages
// of this module. Test files may import any package of ours, since they are
// nobody's dependency, and beside what their row says only what forTests lists.
//
// Do not relax this table to make something build. A new edge is a decision
// about the architecture and needs an ADR in docs/adr.
var imports = map[string]string{
	".": "",

	"isc":        jsonschema,
	"llm":        "",
	"permission": "isc",
	"memory":     "isc",
	"planner":    "isc llm",
	"spoke":      "isc llm memory internal/child internal/foreign internal/meter internal/pace internal/sandbox",
	"hub":        "isc memory permission planner internal/pace",

	"memory/summarizer.go":  "isc llm",
	"spoke/main_linux.go":   "internal/sandbox " + xsys,
	"spoke/operator.go":     "isc",
	"spoke/conversation.go": "isc",
	"hub/hub.go":            "isc llm memory permission planner spoke",

	// What a process of a spoke does to itself, and what its parent does.
	"internal/sandbox":                   "isc internal/sandbox/filter " + xsys + " " + psx,
	"internal/sandbox/filter":            xsys,
	"internal/sandbox/filter/filtertest": "internal/sandbox/filter",
	"internal/sandbox/outer":             "internal/sandbox/filter " + xsys,
	"internal/child":                     xsys,
	"internal/meter":                     "",
	"internal/pace":                      "",
	"internal/foreign":                   "isc internal/sandbox " + xsys,

	"spoke/egress":    "spoke",
	"spoke/spokehttp": "spoke",
	"spoke/foreign":   "isc internal/child internal/foreign internal/meter internal/sandbox spoke spoke/egress " + xsys,

	"spoke/wasm":                                 "isc spoke spoke/wasm/internal/frame spoke/wasm/internal/module " + wazero,
	"spoke/wasm/guest":                           "isc spoke spoke/wasm/internal/frame",
	"spoke/wasm/internal/frame":                  "isc spoke",
	"spoke/wasm/internal/module":                 "",
	"spoke/wasm/internal/module/prepare_test.go": "spoke/wasm/internal/module " + wazero,
	"spoke/wasm/internal/module/module_test.go":  "spoke/wasm/internal/module " + wazero,

	"permission/terminal":   "isc permission " + xterm,
	"llm/internal/provider": "llm",
	"llm/internal/sse":      "",
	"llm/openai":            "llm llm/internal/provider llm/internal/sse",
	"llm/langchain":         "llm llm/internal/provider llm/internal/sse " + langchaingo,

	// Kits for tests of those who implement an interface of ours.
	"llm/llmtest":               "llm " + forTests,
	"memory/memorytest":         "isc memory " + forTests,
	"permission/permissiontest": "isc permission " + forTests,
	"spoke/spoketest":           "isc llm llm/llmtest memory spoke " + forTests,
	"spoke/sandboxtest":         "isc spoke " + xsys + " " + forTests,

	"examples/quickstart":          "hub isc llm llm/openai permission permission/terminal spoke",
	"examples/casestudies":         "examples/casestudies/cases examples/casestudies/vanilla hub isc llm llm/langchain llm/llmtest llm/openai memory permission permission/terminal planner spoke " + langchaingo + " " + xterm,
	"examples/casestudies/cases":   "isc llm/llmtest planner spoke",
	"examples/sandbox":             "internal/sandbox/outer isc spoke spoke/sandboxtest",
	"examples/wasmapp":             "hub isc llm permission permission/terminal spoke spoke/wasm",
	"examples/wasmapp/app":         "isc spoke spoke/wasm/guest",
	"examples/wasmapp/box":         "spoke spoke/wasm",
	"examples/casestudies/vanilla": "isc llm spoke",

	// The README's program with a model of langchaingo.
	"example_test.go": langchaingo,
	// The library that isc hides judges what llm projects, independently of isc.
	"llm/project_test.go": "llm " + jsonschema,
}

// Third-party packages, each with what is below it.
const (
	jsonschema  = "github.com/santhosh-tekuri/jsonschema/v5"
	langchaingo = "github.com/tmc/langchaingo/llms"
	xterm       = "golang.org/x/term"
	xsys        = "golang.org/x/sys/unix"
	psx         = "kernel.org/pub/linux/libs/security/libcap/psx"
	wazero      = "github.com/tetratelabs/wazero"
	forTests    = "github.com/stretchr/testify/require pgregory.net/rapid go.uber.org/goleak github.com/rogpeppe/go-internal"
)

// core are the packages that every program gets.
var core = []string{"isc", "llm", "permission", "memory", "planner", "spoke", "hub"}

// TestImportPolicy holds the table, and with it rule 2: operators have no model.
func TestImportPolicy(t *testing.T) {
	used := map[string]bool{}
	for dir, files := range sources(t) {
		row, ok := imports[dir]
		require.True(t, ok, "package %s has no row in the import policy", dir)
		used[dir] = true
		for _, f := range files {
			allowed := strings.Fields(row)
			if own, ok := imports[f.path]; ok {
				allowed = strings.Fields(own)
				used[f.path] = true
			}
			for _, imported := range f.imports {
				may := mayImport
				if f.test {
					may = mayTestImport
				}
				if !may(allowed, imported) {
					t.Errorf("%s must not import %s", f.path, imported)
				}
			}
		}
	}
	for row := range imports {
		require.True(t, used[row], "the import policy has a row for %s, which is not there", row)
	}
}

func TestP10CoreDependsOnOnePackage(t *testing.T) {
	for _, system := range []string{"linux", "darwin", "windows"} {
		for _, dir := range core {
			for _, dep := range dependencies(t, system, "./"+dir) {
				confines := system == "linux" && (dir == "spoke" || dir == "hub") && (within(dep, "golang.org/x/sys") || within(dep, psx))
				ok := within(dep, module) || dir != "llm" && within(dep, jsonschema) || confines
				require.True(t, ok, "%s depends on %s on %s", dir, dep, system)
			}
		}
	}
}

func TestP10NoUnsafeNoCgoNoMutableState(t *testing.T) {
	for dir, files := range sources(t) {
		for _, f := range files {
			require.NotContains(t, f.imports, "C", "%s uses cgo", f.path)
			if !strings.HasPrefix(f.path, "internal/sandbox/") && dir != "spoke/sandboxtest" || !strings.Contains(f.path, "_unsafe") {
				require.NotContains(t, f.imports, "unsafe", "%s", f.path)
			}
			require.NotContains(t, f.imports, "plugin", "%s", f.path)
			if f.test || strings.HasPrefix(dir, "examples") {
				continue
			}
			require.Empty(t, exportedState(f.syntax), "%s has exported variables that are no errors", f.path)
			require.False(t, hasInit(f.syntax), "%s has an init function", f.path)
		}
	}
}

func TestNobodyImportsExamples(t *testing.T) {
	for dir, files := range sources(t) {
		for _, f := range files {
			for _, imported := range f.imports {
				if within(imported, module+"/examples") {
					require.True(t, strings.HasPrefix(dir, "examples/"), "%s imports %s", f.path, imported)
				}
			}
		}
	}
}

type source struct {
	path    string // from the root, with slashes
	test    bool
	imports []string
	syntax  *ast.File
}

// sources are all Go files of the module by directory, whatever system they are
// for.
func sources(t *testing.T) map[string][]source {
	t.Helper()
	out := map[string][]source{}
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || name != "." && strings.HasPrefix(d.Name(), ".")) {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") {
			return nil
		}
		syntax, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		s := source{path: filepath.ToSlash(name), test: strings.HasSuffix(name, "_test.go"), syntax: syntax}
		for _, i := range syntax.Imports {
			imported, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			s.imports = append(s.imports, imported)
		}
		dir := path.Dir(s.path)
		out[dir] = append(out[dir], s)
		return nil
	})
	require.NoError(t, err)
	require.NotEmpty(t, out)
	return out
}

// mayImport says whether one of the words of a row covers an import.
func mayImport(allowed []string, imported string) bool {
	if !strings.Contains(strings.SplitN(imported, "/", 2)[0], ".") {
		return true // the standard library
	}
	if ours, ok := strings.CutPrefix(imported, module+"/"); ok {
		return slices.Contains(allowed, ours)
	}
	return slices.ContainsFunc(allowed, func(a string) bool { return strings.Contains(a, ".") && within(imported, a) })
}

func mayTestImport(allowed []string, imported string) bool {
	if within(imported, module) {
		return true
	}
	return mayImport(slices.Concat(allowed, strings.Fields(forTests)), imported)
}

func within(imported, parent string) bool {
	return imported == parent || strings.HasPrefix(imported, parent+"/")
}

// dependencies are the packages outside the standard library that pkg needs.
func dependencies(t *testing.T, system, pkg string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-json=ImportPath,Standard", pkg)
	cmd.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
	out, err := cmd.Output()
	require.NoError(t, err)
	var deps []string
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath string
			Standard   bool
		}
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		if !p.Standard {
			deps = append(deps, p.ImportPath)
		}
	}
	require.NotEmpty(t, deps)
	return deps
}

// exportedState are the exported variables of a file that are no error made in
// place: anybody could change them.
func exportedState(f *ast.File) []string {
	out := map[string]bool{}
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			continue
		}
		for _, s := range g.Specs {
			v := s.(*ast.ValueSpec)
			for i, name := range v.Names {
				if name.IsExported() && (i >= len(v.Values) || !strings.HasPrefix(name.Name, "Err")) {
					out[name.Name] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(out))
}

func hasInit(f *ast.File) bool {
	return slices.ContainsFunc(f.Decls, func(d ast.Decl) bool {
		fn, ok := d.(*ast.FuncDecl)
		return ok && fn.Recv == nil && fn.Name.Name == "init"
	})
}
