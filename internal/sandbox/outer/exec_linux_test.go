//go:build amd64 || arm64

package outer_test

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/isolategpt/isolategpt/internal/sandbox/filter"
	"github.com/isolategpt/isolategpt/internal/sandbox/outer"
)

// found are the layers that this process may have.
func found() []string {
	var out []string
	// No memory of a process lies at 0: whoever looks at the arguments says so.
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION); errno == 0 {
		out = append(out, outer.Landlock)
	}
	_, _, one := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, 0)
	other := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, 0, 0, 0)
	if one == unix.EFAULT && errors.Is(other, unix.EFAULT) {
		out = append(out, outer.Seccomp)
	}
	cmd := exec.Command("/bin/true")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER}
	if cmd.Run() == nil {
		out = append(out, outer.Namespaces)
	}
	return out
}

func TestExecTakesLayersAway(t *testing.T) {
	all := found()
	for _, tc := range []struct {
		name string
		gone []string
	}{
		{"landlock", []string{outer.Landlock}},
		{"seccomp", []string{outer.Seccomp}},
		{"namespaces", []string{outer.Namespaces}},
		{"two", []string{outer.Landlock, outer.Namespaces}},
		{"all", []string{outer.Landlock, outer.Seccomp, outer.Namespaces}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cmd := exec.Command("/proc/self/exe")
			cmd.Env = append(os.Environ(), marker+"="+strings.Join(tc.gone, ","))
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			want := slices.DeleteFunc(slices.Clone(all), func(l string) bool { return slices.Contains(tc.gone, l) })
			require.Equal(t, strings.Join(want, " "), string(out))
		})
	}
}

func TestExecRefuses(t *testing.T) {
	require.ErrorContains(t, outer.Exec([]string{"nothing"}, []string{"/bin/true"}), `"nothing"`)
	require.Error(t, outer.Exec(nil, nil))
	require.ErrorIs(t, outer.Exec(nil, []string{"/nowhere"}), os.ErrNotExist)
}

func TestInstallRefusesNothing(t *testing.T) {
	require.ErrorIs(t, filter.Install(nil, true), filter.ErrPolicy)
}
