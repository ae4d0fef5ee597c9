//go:build amd64 || arm64

package sandbox_test

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/internal/sandbox"
	"github.com/isolategpt/isolategpt/isc"
)

var children = map[string]func() error{
	"nothing": func() error { return nil },
	"report":  confined(func(sandbox.Profile) error { return nil }),
	"become":  confined(func(p sandbox.Profile) error { return sandbox.Exec(*p.Program) }),
	"work":    confined(func(sandbox.Profile) error { return work() }),
	"panic":   confined(func(sandbox.Profile) error { panic("as expected") }),
	"threads": onThreads,
	"wait":    confined(wait),
	"hub":     beHub("wait", false),

	"hub in namespaces":              beHub("wait", true),
	"hub of a program":               beHub("become", false),
	"hub of a program in namespaces": beHub("become", true),
	"become elsewhere": confined(func(p sandbox.Profile) error {
		failed := make(chan error)
		go func() { failed <- sandbox.Exec(*p.Program) }()
		return <-failed
	}),
	"become another": confined(func(p sandbox.Profile) error {
		p.Program.Args = append(p.Program.Args, "env")
		return sandbox.Exec(*p.Program)
	}),

	"hoard": confined(func(sandbox.Profile) error { return hoard() }),
}

// What is left when a layer is missing, and no more.
func TestClaimsOnlyWhatWasRefused(t *testing.T) {
	const (
		inside     = isc.CrashIsolation | isc.CleanEnv | isc.MemoryIsolation | isc.Killable
		everything = isc.FullIsolation
	)
	// Root's environment stays shut to a process that has no capabilities; that of
	// an ordinary user does not.
	open := isc.CrashIsolation
	if os.Getuid() == 0 {
		open |= isc.CleanEnv
	}
	for _, tc := range []struct {
		name       string
		without    string
		namespaces bool
		want       isc.Guarantees
	}{
		{"all layers", "", true, everything | isc.DefenceInDepth},
		{"no namespaces", "", false, everything},
		{"no landlock", "landlock:", true, everything | isc.DefenceInDepth},
		{"no landlock, no namespaces", "landlock:", false, everything},
		{"no seccomp", "seccomp:", true, inside},
		{"no seccomp, no namespaces", "seccomp:", false, isc.CrashIsolation | isc.CleanEnv},
		{"neither", "landlock,seccomp:", true, inside},
		{"nothing at all", "landlock,seccomp:", false, open},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := run(t, tc.without+"report", profile(tc.namespaces))
			require.Empty(t, e.Err, e.output)
			require.True(t, e.state.Success(), e.output)
			require.Equal(t, tc.want.String(), e.Isolation.Has.String(), e.detail("attempts"))
		})
	}
}

func TestClaimsOnlyWhatWasRefusedAsOrdinaryUser(t *testing.T) {
	ordinary(t, "^TestClaimsOnlyWhatWasRefused$")
}

// A layer that is missing is reported, with its reason, and so is one that is not.
func TestLayersAreReported(t *testing.T) {
	e := run(t, "report", profile(false))
	require.Contains(t, e.names(), "seccomp")
	require.Contains(t, e.names(), "attempts")
	require.Equal(t, "started without", e.detail("namespaces"))
	limits := "256 MiB, 64 files"
	if bigStacks {
		limits = "256 MiB and 256 MiB for stacks of C's threads, 64 files"
	}
	require.Equal(t, limits, e.detail("limits"))

	e = run(t, "landlock,seccomp:report", profile(false))
	require.NotContains(t, e.names(), "landlock")
	require.NotContains(t, e.names(), "seccomp")
	require.Contains(t, e.detail("landlock"), syscall.ENOSYS.Error())
	require.Contains(t, e.detail("seccomp"), syscall.EINVAL.Error())
	require.Contains(t, e.detail("attempts"), "tcp socket: worked")
}

// What a spoke was started with is looked at, not believed.
func TestNothingIsInherited(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*exec.Cmd)
		lacks  isc.Guarantees
		why    string
	}{
		{"a variable", func(c *exec.Cmd) { c.Env = append(c.Env, "KEY=secret") }, isc.CleanEnv | isc.NoSecrets, `"KEY"`},
		{"a descriptor", func(c *exec.Cmd) {
			f, err := os.Open("/etc/passwd")
			require.NoError(t, err)
			t.Cleanup(func() { _ = f.Close() })
			c.ExtraFiles = append(c.ExtraFiles, f)
		}, isc.NoSecrets, "descriptor 5 is /etc/passwd"},
		{"a file as standard input", func(c *exec.Cmd) {
			f, err := os.Open("/etc/passwd")
			require.NoError(t, err)
			t.Cleanup(func() { _ = f.Close() })
			c.Stdin = f
		}, isc.NoSecrets, "descriptor 0 is /etc/passwd"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := run(t, "report", profile(false), tc.change)
			require.Empty(t, e.Err)
			require.Equal(t, isc.FullIsolation.Without(tc.lacks).String(), e.Isolation.Has.String())
			require.Contains(t, e.detail("attempts"), tc.why)
		})
	}
}

// Killable needs a group of its own, and no way out of it.
func TestKillableNeedsItsOwnGroup(t *testing.T) {
	e := run(t, "report", profile(false), func(c *exec.Cmd) { c.SysProcAttr.Setpgid = false })
	require.Equal(t, isc.FullIsolation.Without(isc.Killable).String(), e.Isolation.Has.String())
}

// Whoever says that there are namespaces, and is wrong, is not confined at all.
func TestNamespacesAreChecked(t *testing.T) {
	p := profile(true)
	e := run(t, "report", p, func(c *exec.Cmd) {
		c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	})
	require.Contains(t, e.Err, "not in its own namespaces")
	require.Zero(t, e.Isolation)
}

func TestGoWorksConfined(t *testing.T) {
	for _, namespaces := range []bool{false, true} {
		e := run(t, "work", profile(namespaces))
		require.Empty(t, e.Err)
		require.True(t, e.state.Success(), "%s", e.output)
	}
}

func TestGoWorksConfinedAsOrdinaryUser(t *testing.T) { ordinary(t, "^TestGoWorksConfined$") }

func TestPanicsTellWhere(t *testing.T) {
	e := run(t, "panic", profile(false))
	require.Equal(t, 2, e.state.ExitCode())
	require.Contains(t, e.output, "panic: as expected")
	require.Contains(t, e.output, "goroutine 1 [running")
}

func TestMemoryIsBounded(t *testing.T) {
	p := profile(false)
	p.Memory = 128 * mib
	e := run(t, "hoard", p)
	require.Empty(t, e.Err)
	require.False(t, e.state.Success())
	require.True(t, strings.Contains(e.output, "out of memory") || strings.Contains(e.output, "to allocate"), "%.300s", e.output)
}
