//go:build linux && (amd64 || arm64)

package sandbox

import (
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// try makes a call and gives its result and error number, 0 if it worked. An
// argument is an int, a uint64, a string (passed as its bytes and a zero) or a
// []byte (passed as its first byte).
func try(nr uintptr, args ...any) (uintptr, syscall.Errno) {
	var pins runtime.Pinner
	defer pins.Unpin()
	var words [6]uintptr
	for i, arg := range args {
		switch arg := arg.(type) {
		case int:
			words[i] = uintptr(arg)
		case uint64:
			words[i] = uintptr(arg)
		case string:
			words[i] = address(&pins, append([]byte(arg), 0))
		case []byte:
			words[i] = address(&pins, arg)
		}
	}
	r, _, errno := unix.Syscall6(nr, words[0], words[1], words[2], words[3], words[4], words[5])
	return r, errno
}

// address is where b lies for as long as pins hold it.
func address(pins *runtime.Pinner, b []byte) uintptr {
	if len(b) == 0 {
		return 0
	}
	pins.Pin(&b[0])
	return uintptr(unsafe.Pointer(&b[0])) //nolint:gosec // G103: pinned in the line before
}
