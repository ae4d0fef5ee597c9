//go:build unix && !linux

package spoke

import (
	"os"
	"os/exec"
	"syscall"
)

func executable() (string, error) { return os.Executable() }

func processAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// reap waits for the process and kills what it left in its group. A group with
// members keeps its number, so no other group can be meant.
func reap(cmd *exec.Cmd) {
	_ = cmd.Wait() // its error is in ProcessState
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
}
