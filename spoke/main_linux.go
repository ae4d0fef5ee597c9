package spoke

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// dieWithParent says again, for the calling thread, what the parent has said for
// the first: the signal belongs to a thread, and the first may be another one by
// now. If the parent has ended in between, its connections tell.
func dieWithParent() error {
	return os.NewSyscallError("prctl", unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(syscall.SIGKILL), 0, 0, 0))
}
