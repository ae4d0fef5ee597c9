package foreign_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/internal/child"
	"github.com/isolategpt/isolategpt/internal/sandbox/outer"
	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
	"github.com/isolategpt/isolategpt/spoke/foreign"
)

// withoutNamespaces, in the environment, has this program see to it that it can
// have no namespaces. It was started in a user namespace of its own.
const withoutNamespaces = "FOREIGN_TEST_WITHOUT_NAMESPACES"

func takeNamespaces() {
	if os.Getenv(withoutNamespaces) == "" {
		return
	}
	if err := os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0); err != nil {
		panic(err)
	}
}

// withoutSeccomp, in the environment, has this program see to it that it can have
// no filter of system calls.
const withoutSeccomp = "FOREIGN_TEST_WITHOUT_SECCOMP"

func takeSeccomp() {
	if os.Getenv(withoutSeccomp) != "take" {
		return
	}
	err := os.Setenv(withoutSeccomp, "taken")
	if err == nil {
		err = outer.Exec([]string{outer.Seccomp}, append([]string{"/proc/self/exe"}, os.Args[1:]...))
	}
	panic(err)
}

// again runs tests of this program once more, in another way.
func again(t *testing.T, tests string, attr *syscall.SysProcAttr, env ...string) {
	dir := t.TempDir()
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755))
	require.NoError(t, os.Chmod(dir, 0o777))
	program := filepath.Join(dir, "program")
	in, err := os.Open("/proc/self/exe")
	require.NoError(t, err)
	defer in.Close()
	out, err := os.OpenFile(program, os.O_CREATE|os.O_WRONLY, 0o755)
	require.NoError(t, err)
	_, err = io.Copy(out, in)
	require.NoError(t, err)
	require.NoError(t, out.Close())
	cmd := exec.CommandContext(t.Context(), program, "-test.v", "-test.run="+tests)
	cmd.Dir = dir
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent"}, env...)
	cmd.SysProcAttr = attr
	text, err := cmd.CombinedOutput()
	t.Logf("%s", text)
	require.NoError(t, err)
	require.Contains(t, string(text), "--- PASS")
}

func TestAsAnOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("this is one already")
	}
	again(t, "^(TestAHostile|TestMemory|TestNo|TestAProgram|TestKillable|TestDies)", &syscall.SysProcAttr{
		Credential: &syscall.Credential{Uid: 65534, Gid: 65534},
	})
}

// Without namespaces a program can see that a file is there, so what is demanded
// is not met; whoever waives that gets all the rest.
func TestWithoutNamespaces(t *testing.T) {
	needNamespaces(t)
	again(t, "^(TestAHostile|TestMemory|TestNothing|TestAProgramIs|TestKillable|TestDies|TestUnmet)", &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
	}, withoutNamespaces+"=1")
}

func TestUnmetHostsAreRefusedWithoutNamespaces(t *testing.T) {
	if child.Namespaces() == nil {
		t.Skip("there are namespaces here")
	}
	cfg := python(t).script(t, "echo.py", echo)
	cfg.Hosts, cfg.Authorize, cfg.Waive = []string{"localhost"}, allow, isc.FullIsolation
	_, err := foreign.Start(t.Context(), cfg)
	var unmet *spoke.UnmetError
	require.ErrorAs(t, err, &unmet)
	require.Equal(t, isc.NoNetwork, unmet.Missing)
	require.ErrorContains(t, err, "no namespaces")
}

func TestUnmetFilesAreSeenWithoutNamespaces(t *testing.T) {
	if child.Namespaces() == nil {
		t.Skip("there are namespaces here")
	}
	cfg := python(t).script(t, "echo.py", echo)
	cfg.Waive = 0
	_, err := foreign.Start(t.Context(), cfg)
	var unmet *spoke.UnmetError
	require.ErrorAs(t, err, &unmet)
	require.Equal(t, isc.NoFiles, unmet.Missing)
}

func TestWithoutSeccomp(t *testing.T) {
	again(t, "^TestUnmetMemory", nil, withoutSeccomp+"=take")
}

// Where a limit lets shared memory through, the watch alone is not enough.
func TestUnmetMemoryIsHadWithoutSeccomp(t *testing.T) {
	if os.Getenv(withoutSeccomp) == "" {
		t.Skip("there is seccomp here")
	}
	cfg := python(t).script(t, "echo.py", echo)
	cfg.Waive = 0
	_, err := foreign.Start(t.Context(), cfg)
	var unmet *spoke.UnmetError
	require.ErrorAs(t, err, &unmet)
	require.True(t, unmet.Missing.Has(isc.MemoryLimit), err)
	require.ErrorContains(t, err, "no data-limit")
}
