//go:build linux && (amd64 || arm64)

package sandbox

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/isolategpt/isolategpt/isc"
)

// confinement is one run of [Confine].
type confinement struct {
	Profile
	before     before
	held       held
	grants     []grant
	rules      *landlock
	image      *image // nil: nothing is executed
	threads    threads
	layers     []isc.Layer
	rootless   bool  // the root was emptied, and all namespaces are its own
	ownProcess error // it is a child of the hub, which lives
	alone      error // what namespaces alone did not keep out
	filtered   bool  // by seccomp
	// reserved is how it ended to write to more reserved memory than there may be.
	reserved syscall.Errno
}

func confine(p Profile) (isc.Isolation, error) {
	_ = time.Now().Local() // reads the time zone, once
	c := &confinement{Profile: p}
	if p.Program != nil {
		// The signal at the parent's death belongs to a thread, and of execution only
		// one is left: it must be one that was there when all were given it.
		runtime.LockOSThread()
	}
	defer c.threads.end()
	for _, step := range []func() error{
		c.look, c.destine, c.descriptors, c.prepare, c.namespaces, c.limits, c.capabilities, c.landlock, c.seccomp,
	} {
		if err := step(); err != nil {
			return isc.Isolation{}, err
		}
	}
	c.threads.end()
	return c.report(), nil
}

func (c *confinement) layer(name string, absent error, detail string) {
	l := isc.Layer{Name: name, Applied: absent == nil, Detail: detail}
	if absent != nil {
		l.Detail = absent.Error()
	}
	c.layers = append(c.layers, l)
}

// look reads from files what they say only as long as there are any.
func (c *confinement) look() (err error) {
	if c.held, err = nowHeld(); err != nil {
		return err
	}
	c.before = lookAround(c.Profile)
	if err := c.before.namespaced; c.Namespaces && err != nil {
		return fmt.Errorf("sandbox: not in its own namespaces: %w", err)
	}
	return nil
}

// descriptors sees to it that a program executed later gets its connections at
// most. A foreign one has none but its standard streams.
func (c *confinement) descriptors() error {
	if c.Program == nil {
		return nil
	}
	first := uint(3)
	if c.Program.Static {
		first += uint(c.Channels)
	}
	if err := unix.CloseRange(first, ^uint(0)>>32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("sandbox: descriptors close on execution: %w", err)
	}
	return nil
}

// prepare opens what Landlock's rules name before the root is emptied.
func (c *confinement) prepare() (err error) {
	if c.grants, err = c.Program.grants(); err != nil {
		return err
	}
	rules, absent := newLandlock()
	if absent != nil {
		c.layer("landlock", absent, "")
		return nil
	}
	for _, g := range c.grants {
		if err := rules.path(g.path, g.rights); err != nil {
			return err
		}
	}
	if c.Program != nil && c.Program.Proxy != 0 {
		if err := rules.connect(c.Program.Proxy); err != nil {
			return err
		}
	}
	c.rules = rules
	return nil
}

// report is what the attempts show.
func (c *confinement) report() isc.Isolation {
	has, worked := c.attempt()
	has = c.dataLimit(has)
	const most = 12 // in words; they end up in an error's text
	if n := len(worked) - most; n > 0 {
		worked = append(worked[:most], fmt.Sprintf("and %d more", n))
	}
	var notRefused error
	if len(worked) > 0 {
		notRefused = errors.New(strings.Join(worked, "; "))
	}
	c.layer(Attempts, notRefused, "")
	return isc.Isolation{Has: has, Layers: slices.Clip(c.layers)}
}
