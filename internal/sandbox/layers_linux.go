//go:build linux && (amd64 || arm64)

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/isolategpt/isolategpt/internal/sandbox/filter"
)

// namespaces: the root is emptied of all but what a program declares.
func (c *confinement) namespaces() error {
	if threadsFromC {
		if err := c.threads.keep(c.Namespaces); err != nil {
			return err
		}
	}
	if !c.Namespaces {
		c.layer("namespaces", errors.New("started without"), "")
		return c.enter()
	}
	var dirs []string
	if c.Program != nil && c.Program.Dir != "" {
		dirs = append(dirs, c.Program.Dir)
	}
	// The root belongs to all threads; one of them exchanges it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := emptyRoot(c.grants, dirs...); err != nil {
		return err
	}
	c.rootless = true
	c.alone = c.outside()
	c.layer("namespaces", nil, "user, mount, pid, net, ipc, uts; empty root")
	return c.enter()
}

// enter goes where the program starts.
func (c *confinement) enter() error {
	dir := "/"
	if c.Program != nil && c.Program.Dir != "" {
		dir = c.Program.Dir
	}
	if err := os.Chdir(dir); err != nil {
		return fmt.Errorf("sandbox: enter: %w", err)
	}
	return nil
}

func (c *confinement) limits() error {
	if err := limitData(c.Profile, c.held); err != nil {
		return err
	}
	c.reserved = c.fillReserved() // while address space is to be had for that
	if err := limit(c.Profile, c.held); err != nil {
		return err
	}
	detail := fmt.Sprintf("%d MiB", c.Memory>>20)
	if c.held.threads != 0 && !c.foreign() {
		detail += fmt.Sprintf(" and %d MiB for stacks of C's threads", c.held.threads>>20)
	}
	c.layer("limits", nil, fmt.Sprintf("%s, %d files", detail, c.Files))
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("sandbox: not dumpable: %w", err)
	}
	// Of a huge page of which one small page is left mapped the rest is held, and
	// not counted.
	if err := unix.Prctl(unix.PR_SET_THP_DISABLE, 1, 0, 0, 0); err != nil && !errors.Is(err, unix.EINVAL) {
		return fmt.Errorf("sandbox: no huge pages: %w", err)
	}
	return nil
}

func (c *confinement) capabilities() error {
	if err := dropCaps(&c.threads); err != nil {
		return err
	}
	c.layer("no-capabilities", nil, "")
	if err := c.threads.each("no new privileges", unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1); err != nil {
		return err
	}
	c.layer("no-new-privileges", nil, "")
	// It belongs to a thread, and whatever its parent asked for, to the first one.
	if err := c.threads.each("end with the hub", unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL)); err != nil {
		return err
	}
	c.ownProcess = ownProcess(c.Profile)
	return nil
}

func (c *confinement) landlock() error {
	if c.rules == nil {
		return nil
	}
	defer unix.Close(c.rules.fd)
	if err := c.threads.restrict(c.rules); err != nil {
		return err
	}
	c.layer("landlock", nil, fmt.Sprintf("ABI %d", c.rules.abi))
	return nil
}

func (c *confinement) seccomp() error {
	program, err := filter.Compile(c.policy(), here())
	if err != nil {
		return err
	}
	absent := filter.Install(program, true)
	if absent != nil && !errors.Is(absent, filter.ErrAbsent) {
		return absent
	}
	c.filtered = absent == nil
	detail := "allow-list"
	if c.foreign() {
		detail = "deny-list"
	}
	c.layer("seccomp", absent, detail)
	return nil
}

func (c *confinement) policy() filter.Policy {
	if c.foreign() {
		return foreignPolicy(os.Getpid(), c.image, c.Program.Proxy != 0, c.locks())
	}
	return spokePolicy(os.Getpid(), c.image)
}
