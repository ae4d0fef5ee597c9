package main

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// deathSignal is what the calling thread gets when its parent ends.
func deathSignal() (int, error) {
	var signal int32
	err := unix.Prctl(unix.PR_GET_PDEATHSIG, uintptr(unsafe.Pointer(&signal)), 0, 0, 0) //nolint:gosec // G103: during the call
	return int(signal), err
}
