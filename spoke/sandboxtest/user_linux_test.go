package sandboxtest_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

const nobody = 65534

// again runs one test of this program in a process of its own: as nobody if this
// is root and it is wanted, with variables. It gives what the test printed.
func again(t *testing.T, test string, asNobody bool, env ...string) string {
	t.Helper()
	program, dir := forAll(t)
	cmd := exec.CommandContext(t.Context(), program, "-test.run", "^"+test+"$", "-test.v", "-test.count", "1")
	cmd.Dir = dir
	cmd.Env = append([]string{"TMPDIR=" + dir, "HOME=" + dir, "PATH=" + os.Getenv("PATH")}, env...)
	if asNobody {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	require.NoError(t, err, "%s", out.String())
	require.Regexp(t, regexp.MustCompile(`(?m)^--- PASS: `+test+`\b`), out.String())
	return out.String()
}

// forAll is a copy of this program and a directory, for every user.
func forAll(t *testing.T) (program, dir string) {
	t.Helper()
	root, err := os.MkdirTemp("", "sandboxtest") //nolint:usetesting // the parent of t.TempDir is this user's alone
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(root)) })
	require.NoError(t, os.Chmod(root, 0o755))
	program, dir = filepath.Join(root, "program"), filepath.Join(root, "dir")
	require.NoError(t, os.Mkdir(dir, 0o755))
	require.NoError(t, os.Chmod(dir, 0o777))
	from, err := os.Open("/proc/self/exe")
	require.NoError(t, err)
	defer func() { _ = from.Close() }()
	to, err := os.OpenFile(program, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	require.NoError(t, err)
	_, err = io.Copy(to, from)
	require.NoError(t, err)
	require.NoError(t, to.Close())
	require.NoError(t, os.Chmod(program, 0o755))
	return program, dir
}

// users runs f as root and as nobody; where this is not root, as it is; and under
// the race detector, which finds the same in both, as nobody alone.
func users(t *testing.T, f func(t *testing.T, asNobody bool)) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Run(strconv.Itoa(os.Getuid()), func(t *testing.T) { f(t, false) })
		return
	}
	if raced {
		t.Run("nobody", func(t *testing.T) { f(t, true) })
		return
	}
	t.Run("root", func(t *testing.T) { f(t, false) })
	t.Run("nobody", func(t *testing.T) { f(t, true) })
}
