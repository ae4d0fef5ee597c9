//go:build amd64 || arm64

package outer

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/isolategpt/isolategpt/internal/sandbox/filter"
)

func execWithout(without, argv []string) error {
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return fmt.Errorf("outer: %w", err)
	}
	program, err := filter.Compile(policy(without), here())
	if err != nil {
		return err
	}
	runtime.LockOSThread() // what is executed inherits of this thread alone
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("outer: no new privileges: %w", err)
	}
	if err := filter.Install(program, false); err != nil {
		return err
	}
	return fmt.Errorf("outer: execute %s: %w", path, unix.Exec(path, argv, os.Environ()))
}

func policy(without []string) filter.Policy {
	p := filter.Policy{Rest: filter.Pass, Newer: filter.Pass}
	if slices.Contains(without, Landlock) {
		p.Rules = append(p.Rules, filter.Unknown("landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self"))
	}
	if slices.Contains(without, Seccomp) {
		p.Rules = append(p.Rules, filter.Rule{Calls: []string{"seccomp"}, Rest: filter.EINVAL}, filter.Rule{
			Calls: []string{"prctl"}, Rest: filter.Pass, Clauses: []filter.Clause{
				{When: []filter.Cond{filter.Is(0, filter.Low32, unix.PR_SET_SECCOMP)}, Answer: filter.EINVAL},
			},
		})
	}
	if slices.Contains(without, Namespaces) {
		p.Rules = append(p.Rules, filter.RefuseBits("clone", 0, unix.CLONE_NEWUSER),
			filter.RefuseBits("unshare", 0, unix.CLONE_NEWUSER), filter.Unknown("clone3"))
	}
	return p
}
