//go:build !linux && !darwin && !freebsd && !openbsd && !netbsd && !dragonfly && !windows

package permission

import (
	"errors"
	"io/fs"
	"os"
)

// tryLock takes the lock by making its file. A process that died leaves it
// behind; then it must be removed by hand, and until then nothing is written.
func tryLock(path string) (unlock func(), held bool, err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, true, nil
	}
	if err != nil {
		return nil, false, err
	}
	return func() { f.Close(); os.Remove(path) }, false, nil
}

// syncDir does nothing: not every system can sync a directory.
func syncDir(string) error { return nil }
