//go:build linux && (amd64 || arm64)

package filter

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Install puts a filter on every thread of this process, for good, or on the
// calling thread alone. Without capabilities that takes no new privileges, which
// are given up on the threads that it reaches.
//
// [ErrAbsent] says that the kernel has no filters; nothing happened then.
func Install(program []Insn, everyThread bool) error {
	code := make([]unix.SockFilter, len(program))
	for i, in := range program {
		code[i] = unix.SockFilter{Code: in.Code, Jt: in.Jt, Jf: in.Jf, K: in.K}
	}
	if len(code) == 0 {
		return fmt.Errorf("%w: no instruction", ErrPolicy)
	}
	prog := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	var flags uintptr
	if everyThread {
		flags = unix.SECCOMP_FILTER_FLAG_TSYNC
	}
	at := unsafe.Pointer(&prog) //nolint:gosec // G103: the kernel copies it during the call
	r, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(at))
	switch {
	case errno == unix.ENOSYS || errno == unix.EINVAL:
		return fmt.Errorf("%w: %w", ErrAbsent, errno)
	case errno != 0:
		return fmt.Errorf("filter: install: %w", errno)
	case r != 0:
		return fmt.Errorf("filter: install: thread %d has another filter", r)
	}
	return nil
}

// ErrAbsent says that this kernel has no filters.
var ErrAbsent = errors.New("filter: the kernel has none")
