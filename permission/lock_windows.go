package permission

import (
	"errors"
	"syscall"
)

// errSharing is ERROR_SHARING_VIOLATION: another process has the file open.
const errSharing = syscall.Errno(32)

// tryLock takes the lock by opening its file shared with nobody. The system
// closes the file of a process that dies.
func tryLock(path string) (unlock func(), held bool, err error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, false, err
	}
	h, err := syscall.CreateFile(name, syscall.GENERIC_WRITE, 0, nil, syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if errors.Is(err, errSharing) {
		return nil, true, nil
	}
	if err != nil {
		return nil, false, err
	}
	return func() { syscall.CloseHandle(h) }, false, nil
}

// syncDir does nothing: Windows cannot sync a directory.
func syncDir(string) error { return nil }
