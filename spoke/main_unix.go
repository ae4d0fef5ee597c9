//go:build unix

package spoke

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"

	"github.com/isolategpt/isolategpt/internal/sandbox"
)

// runSpoke takes the two inherited connections, confines this process as it is
// told, and serves.
func runSpoke(apps []App) error {
	var files [2]*os.File
	for i, fd := range []int{hubFD, hostFD} {
		if err := syscall.SetNonblock(fd, true); err != nil {
			return fmt.Errorf("spoke: descriptor %d: %w", fd, err)
		}
		files[i] = os.NewFile(uintptr(fd), "spoke")
	}
	hub, host := files[0], files[1]
	var profile *sandbox.Profile // nil: it is confined already, or is not to be
	if err := readFrame(host, &profile); err != nil {
		return fmt.Errorf("spoke: reading the profile: %w", err)
	}
	if profile != nil && profile.Program != nil {
		err := become(host, *profile)
		runtime.KeepAlive(files) // one that is collected is closed, and the program needs them
		return err
	}
	// What the app executes, if it can, does not inherit them.
	syscall.CloseOnExec(hubFD)
	syscall.CloseOnExec(hostFD)
	if profile != nil {
		if err := confine(host, *profile); err != nil {
			return err
		}
	}
	return serveSpoke(hub, host, apps)
}

func confine(host *os.File, p sandbox.Profile) error {
	_, _ = time.Now().Zone() // reads the file of the zone, which cannot be read later
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := dieWithParent(); err != nil {
		return err
	}
	isolation, err := sandbox.Confine(p)
	if err != nil {
		return err
	}
	if err := writeFrame(host, isolation); err != nil {
		return fmt.Errorf("spoke: reporting the isolation: %w", err)
	}
	return nil
}

// become executes the separate program, which inherits the connections, once the
// parent has read what it is confined to. It returns only on failure.
func become(host *os.File, p sandbox.Profile) error {
	runtime.LockOSThread() // until the end: the thread that is confined is the one that executes
	if err := confine(host, p); err != nil {
		return err
	}
	var word *sandbox.Profile
	if err := readFrame(host, &word); err != nil {
		return fmt.Errorf("spoke: waiting for the word to execute the program: %w", err)
	}
	return sandbox.Exec(*p.Program)
}
