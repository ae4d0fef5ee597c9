package spoke

import (
	"os/exec"
	"syscall"
)

// executable stays the running program even if its file was replaced.
func executable() (string, error) { return "/proc/self/exe", nil }

func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// reap waits until the process has ended, kills what it left in its group, and
// takes its status. In between the process is not yet reaped, so its number,
// which is the group's, cannot be another's.
func reap(cmd *exec.Cmd) {
	const pPID, wExited, wNoWait = 1, 4, 0x01000000 // waitid(2)
	pid := cmd.Process.Pid
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, pPID, uintptr(pid), 0, wExited|wNoWait, 0, 0)
		if errno != syscall.EINTR {
			break
		}
	}
	_ = syscall.Kill(-pid, syscall.SIGKILL)
	_ = cmd.Wait() // its error is in ProcessState
}
