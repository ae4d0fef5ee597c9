//go:build linux

package sandboxtest

import (
	"runtime"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// failed is the error of a raw call, or nil.
func failed(errno unix.Errno) error {
	if errno == 0 {
		return nil
	}
	return errno
}

// ioUring makes a ring of one entry.
func ioUring() error {
	var params [120]byte
	fd, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&params)), 0) //nolint:gosec // G103: the kernel uses it during the call alone
	if errno == 0 {
		_ = unix.Close(int(fd))
	}
	return failed(errno)
}

// bpfMap makes an array of one number.
func bpfMap() error {
	attr := struct{ kind, key, value, entries uint32 }{2, 4, 4, 1}
	fd, _, errno := unix.Syscall(unix.SYS_BPF, 0, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr)) //nolint:gosec // G103: the kernel uses it during the call alone
	if errno == 0 {
		_ = unix.Close(int(fd))
	}
	return failed(errno)
}

// messageQueue makes a POSIX queue of that name and removes it.
func messageQueue(name string) error {
	p, err := unix.BytePtrFromString(name)
	if err != nil {
		return err
	}
	fd, _, errno := unix.Syscall6(unix.SYS_MQ_OPEN, uintptr(unsafe.Pointer(p)), unix.O_CREAT|unix.O_RDWR, 0o600, 0, 0, 0) //nolint:gosec // G103: the kernel uses it during the call alone
	if errno != 0 {
		return errno
	}
	_, _, errno = unix.Syscall(unix.SYS_MQ_UNLINK, uintptr(unsafe.Pointer(p)), 0, 0) //nolint:gosec // G103: the kernel uses it during the call alone
	_ = unix.Close(int(fd))
	return failed(errno)
}

// clone3 forks by the newer call.
func clone3() error {
	args := &struct{ flags, pidFD, childTID, parentTID, exitSignal, stack, stackSize, tls uint64 }{exitSignal: uint64(unix.SIGCHLD)}
	var pins runtime.Pinner
	defer pins.Unpin()
	pins.Pin(args)
	return forked(unix.SYS_CLONE3, uintptr(unsafe.Pointer(args)), unsafe.Sizeof(*args)) //nolint:gosec // G103: pinned in the line before
}

// queueSignal sends no signal, but asks whether one could be queued.
func queueSignal(pid int) error {
	var info [128]byte
	*(*int32)(unsafe.Pointer(&info[8])) = -1                                                               //nolint:gosec // G103: si_code, within the array; SI_QUEUE
	_, _, errno := unix.Syscall(unix.SYS_RT_SIGQUEUEINFO, uintptr(pid), 0, uintptr(unsafe.Pointer(&info))) //nolint:gosec // G103: the kernel uses it during the call alone
	return failed(errno)
}

// robustList asks where a thread of another process keeps its locks.
func robustList(pid int) error {
	var head, size uintptr
	_, _, errno := unix.Syscall(unix.SYS_GET_ROBUST_LIST, uintptr(pid), uintptr(unsafe.Pointer(&head)), uintptr(unsafe.Pointer(&size))) //nolint:gosec // G103: the kernel uses it during the call alone
	return failed(errno)
}

// execDescriptor executes the file behind a descriptor, without a path.
func execDescriptor(fd int) error {
	empty, name := [1]byte{}, [2]byte{'x', 0}
	args := [2]*byte{&name[0], nil}
	env := [1]*byte{}
	_, _, errno := unix.Syscall6(unix.SYS_EXECVEAT, uintptr(fd), uintptr(unsafe.Pointer(&empty)), //nolint:gosec // G103: the kernel uses it during the call alone
		uintptr(unsafe.Pointer(&args)), uintptr(unsafe.Pointer(&env)), unix.AT_EMPTY_PATH, 0) //nolint:gosec // G103: the kernel uses it during the call alone
	return failed(errno)
}

// addressOf is where a mapping is.
func addressOf(m []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(m))) } //nolint:gosec // G103: a number, for calls

// use writes to a page what it holds.
//
//go:nocheckptr
func use(page uintptr) {
	atomic.AddInt32(*(**int32)(unsafe.Pointer(&page)), 0) //nolint:gosec // G103: the page is mapped, and nobody's object
}
