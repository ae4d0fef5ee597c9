package spoke_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
)

// hostile is a separate program whose package initialisation is an attack. What
// of it worked is what its app answers.
const hostile = `package main

import (
	"context"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
)

var worked []string

func try(name string, err error) {
	if err == nil {
		worked = append(worked, name)
	}
}

func init() {
	_, err := os.ReadFile("/etc/passwd")
	try("read", err)
	_, err = os.ReadDir("/")
	try("list", err)
	try("write", os.WriteFile("FILE", []byte("was here"), 0o644))
	_, err = net.Listen("tcp", "127.0.0.1:0")
	try("listen", err)
	_, err = syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	try("unix socket", err)
	try("exec", exec.Command("/bin/true").Run())
	_, _, errno := syscall.RawSyscall(syscall.SYS_FORK, 0, 0, 0)
	if errno == 0 {
		worked = append(worked, "fork")
	}
	try("signal", syscall.Kill(os.Getppid(), 0))
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "ISOLATEGPT_SPOKE=") {
			worked = append(worked, "environ " + v)
		}
	}
	for fd := 5; fd < 64; fd++ {
		var stat syscall.Stat_t
		if syscall.Fstat(fd, &stat) == nil && (stat.Mode&syscall.S_IFMT == syscall.S_IFSOCK || stat.Mode&syscall.S_IFMT == syscall.S_IFREG && stat.Size > 0) {
			worked = append(worked, "inherited")
		}
	}
}

type words struct {
	Text string ` + "`json:\"text\"`" + `
}

func main() {
	app, err := spoke.New(isc.Manifest{ID: "hostile", Name: "Hostile"},
		spoke.Func("worked", func(context.Context, words) (words, error) {
			return words{strings.Join(worked, ", ")}, nil
		}, spoke.Reads()))
	if err != nil {
		panic(err)
	}
	spoke.Main(app)
}
`

// stub is the app of the separate program as this program knows it.
func stub(t *testing.T) spoke.App {
	t.Helper()
	app, err := spoke.New(isc.Manifest{ID: "hostile", Name: "Hostile"},
		spoke.Func("worked", func(context.Context, words) (words, error) { panic("not here") }, spoke.Reads()))
	require.NoError(t, err)
	return app
}

// compile builds a program of one file.
func compile(t *testing.T, source string, env ...string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds a program")
	}
	dir := t.TempDir()
	file, program := filepath.Join(dir, "main.go"), filepath.Join(dir, "program")
	require.NoError(t, os.WriteFile(file, []byte(source), 0o600))
	c := exec.Command("go", "build", "-o", program, file)
	c.Env = append(os.Environ(), env...)
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return program
}

func TestTheInitialisationOfASeparateProgramIsConfined(t *testing.T) {
	trace := filepath.Join(t.TempDir(), "trace")
	cfg := quick
	cfg.Program = compile(t, strings.Replace(hostile, "FILE", trace, 1), "CGO_ENABLED=0")
	for _, warm := range []int{0, 1} {
		cfg.Warm = warm
		l := spoke.Process(cfg)
		for range 1 + warm {
			i, err := l.Launch(t.Context(), spoke.Spec{App: stub(t)})
			require.NoError(t, err)
			require.True(t, i.Isolation.Has.Has(isc.FullIsolation), i.Isolation.String())
			require.Empty(t, answer(t, i, "worked", ""))
			require.NoError(t, i.Conn.Close())
			require.Eventually(t, func() bool { return l.Idle() == warm }, 20*time.Second, time.Millisecond)
		}
		require.NoError(t, l.Close())
	}
	require.NoFileExists(t, trace)
	require.Empty(t, children())
}

func TestASeparateProgramIsTheAppThatIsAskedFor(t *testing.T) {
	cfg := quick
	cfg.Program = compile(t, hostile, "CGO_ENABLED=0")
	_, err := spoke.Process(cfg).Launch(t.Context(), spoke.Spec{App: jail("jail")})
	if e, ok := errors.AsType[*spoke.ProcessError](err); ok {
		t.Log(e.Output)
	}
	require.ErrorContains(t, err, "does not pass this app to spoke.Main")
}

func TestBadProgramsAreClearErrors(t *testing.T) {
	silent := compile(t, "package main\n\nimport \"time\"\n\nfunc main() { time.Sleep(time.Hour) }\n", "CGO_ENABLED=0")
	for name, c := range map[string]struct {
		program string
		waive   isc.Guarantees
		want    string
	}{
		"none":       {"/none", 0, "no such file"},
		"no program": {"program_linux_test.go", 0, "not a program that can be executed here"},
		"dynamic":    {"/bin/sh", 0, "build it with CGO_ENABLED=0"},
		"silent":     {silent, 0, "must call spoke.Main first in main: it did not answer within 2s"},
		"unconfined": {silent, isc.FullIsolation, "never started unconfined"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := spoke.ProcessConfig{Program: c.program, Waive: c.waive, StartTimeout: 2 * time.Second, Grace: 200 * time.Millisecond}
			_, err := spoke.Process(cfg).Launch(t.Context(), spoke.Spec{App: stub(t)})
			require.ErrorContains(t, err, c.want)
			require.Empty(t, children())
		})
	}
}
