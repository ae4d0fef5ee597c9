package sandbox

import (
	"golang.org/x/sys/unix"

	"github.com/isolategpt/isolategpt/internal/sandbox/filter"
)

const sysStatAt = unix.SYS_FSTATAT

// here is the processor that this program is built for.
func here() filter.Arch { return filter.ARM64() }
