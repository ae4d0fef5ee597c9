//go:build amd64 || arm64

package sandbox_test

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/isolategpt/isolategpt/internal/sandbox"
)

// Layers of a thread are on each thread that there was before, on those that they
// start, and on the first one.
func TestEveryThreadIsConfined(t *testing.T) {
	for _, tc := range []struct {
		name, child string
		namespaces  bool
	}{
		{"all layers", "threads", true},
		{"seccomp", "landlock:threads", false},
		{"landlock", "seccomp:threads", false},
		{"namespaces", "landlock,seccomp:threads", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := run(t, tc.child, profile(tc.namespaces))
			require.Empty(t, e.Err)
			require.True(t, e.state.Success(), "%s", e.output)
		})
	}
}

func TestEveryThreadIsConfinedAsOrdinaryUser(t *testing.T) {
	ordinary(t, "^TestEveryThreadIsConfined$")
}

// onThreads confines a process that has several threads, and tries from each.
func onThreads() error {
	const n = 8
	confinedNow := make(chan struct{})
	errs := make(chan error, 2*n)
	var ready sync.WaitGroup
	ready.Add(n)
	for range n {
		go func() {
			runtime.LockOSThread()
			ready.Done()
			<-confinedNow
			errs <- tryThread()
			go func() {
				runtime.LockOSThread()
				errs <- tryThread()
			}()
		}()
	}
	ready.Wait()
	return confined(func(sandbox.Profile) error {
		close(confinedNow)
		var all []error
		for range 2 * n {
			all = append(all, <-errs)
		}
		return errors.Join(append(all, tryThread())...)
	})()
}

func tryThread() error {
	if fd, err := unix.Open("/etc/passwd", unix.O_RDONLY, 0); err == nil {
		_ = unix.Close(fd)
		return errors.New("a file was opened")
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	err := unix.Capget(&header, &data[0])
	if err == nil && data != [2]unix.CapUserData{} {
		return fmt.Errorf("capabilities: %v", data)
	}
	if err != nil && !errors.Is(err, os.ErrPermission) {
		return err
	}
	return nil
}
