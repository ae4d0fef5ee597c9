package foreign_test

import (
	"embed"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/internal/child"
	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke/foreign"
)

//go:embed testdata
var scripts embed.FS

// interpreter is a program that executes scripts, with what it needs.
type interpreter struct {
	path string
	args []string
	read []string
}

func python(t testing.TB) interpreter {
	path, err := exec.LookPath("/usr/bin/python3") // not one of a version manager, which is a script
	if err != nil {
		path, err = exec.LookPath("python3")
	}
	if err != nil {
		t.Skip("there is no python3 here")
	}
	_, read, err := foreign.Needs(library(t, path))
	require.NoError(t, err)
	return interpreter{path, []string{"-I", "-S", "-B"}, read}
}

// library is where a python has its own modules.
func library(t testing.TB, python string) string {
	out, err := exec.Command(python, "-I", "-S", "-c", "import sysconfig; print(sysconfig.get_path('stdlib'))").Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(out))
}

func node(t testing.TB) interpreter {
	path, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no node here")
	}
	return interpreter{path: path}
}

// script is a configuration that executes one of testdata, or a text.
func (i interpreter) script(t testing.TB, name, text string, args ...string) foreign.Config {
	t.Helper()
	if text == "" {
		b, err := scripts.ReadFile("testdata/" + name)
		require.NoError(t, err)
		text = string(b)
	}
	file := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return foreign.Config{
		Waive:        waived(),
		Path:         i.path,
		Args:         slices.Concat(i.args, []string{file}, args),
		Env:          []string{"GREETING=hello"},
		Read:         append(slices.Clone(i.read), file),
		Grace:        3 * time.Second,
		StartTimeout: 5 * time.Second,
	}
}

// waived is what these tests do without where there are no namespaces.
func waived() isc.Guarantees {
	if child.Namespaces() != nil {
		return isc.NoFiles
	}
	return 0
}

func start(t testing.TB, cfg foreign.Config) *foreign.Program {
	t.Helper()
	p, err := foreign.Start(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	return p
}

// output is all that a program writes until its end.
func output(t testing.TB, p *foreign.Program) string {
	t.Helper()
	out, err := io.ReadAll(p.Stdout())
	require.NoError(t, err)
	<-p.Done()
	if len(out) == 0 {
		t.Log(p.Err(), p.Output())
	}
	return string(out)
}
