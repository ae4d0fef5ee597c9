package sandboxtest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/isolategpt/isolategpt/isc"
)

func attacks() []attack {
	return slices.Concat(
		fileAttacks(), changeAttacks(), treeAttacks(), directoryAttacks(),
		socketAttacks(), connectAttacks(), channelAttacks(),
		signalAttacks(), memoryAttacks(), peerAttacks(), holdAttacks(),
		execAttacks(), privilegeAttacks(), systemAttacks(), kernelAttacks(),
		hubAttacks(), limitAttacks(), known(),
	)
}

// plain is an attack that needs no sibling and is judged from inside.
func plain(name string, g isc.Guarantees, description string, try func(targets) error) attack {
	return attack{Attack: Attack{Name: name, Guarantee: g, Description: description}, try: try}
}

// onSibling is an attack on another spoke, judged from inside.
func onSibling(name string, g isc.Guarantees, description string, try func(targets) error) attack {
	a := plain(name, g, description, func(t targets) error {
		if t.Sibling == 0 {
			return errAbsent
		}
		return try(t)
	})
	a.sibling = true
	return a
}

// reason is the name of an errno, or what err says.
func reason(err error) string {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		if name := unix.ErrnoName(errno); name != "" {
			return name
		}
		return "errno " + strconv.Itoa(int(errno))
	}
	return err.Error()
}

// allowed is err without what the kernel says of wrong arguments to those alone
// who had the right to give them.
func allowed(err error, wrong unix.Errno) error {
	if errors.Is(err, wrong) {
		return nil
	}
	return err
}

// call is a system call without pointers.
func call(number uintptr, args ...uintptr) error {
	var a [6]uintptr
	copy(a[:], args)
	_, _, errno := unix.Syscall6(number, a[0], a[1], a[2], a[3], a[4], a[5])
	return failed(errno)
}

// closing closes what an attack got.
func closing(fd int, err error) error {
	if err == nil {
		_ = unix.Close(fd)
	}
	return err
}

// address is a number of targets, which is hexadecimal.
func address(text string) (uintptr, error) {
	n, err := strconv.ParseUint(text, 16, 64)
	if err != nil {
		return 0, fmt.Errorf("%w: an address", errAbsent)
	}
	return uintptr(n), nil
}

// need gives errAbsent for an empty path or name.
func need(target string, try func(string) error) error {
	if target == "" {
		return errAbsent
	}
	return try(target)
}
