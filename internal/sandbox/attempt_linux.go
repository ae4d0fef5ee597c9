//go:build linux && (amd64 || arm64)

package sandbox

import (
	"fmt"
	"slices"
	"syscall"

	"github.com/isolategpt/isolategpt/isc"
)

// attempt tries to break guarantees, and does no harm if it can.
type attempt struct {
	what   string
	breaks isc.Guarantees
	// try gives 0 if it worked. What it did is then undone.
	try func() syscall.Errno
	// refusals are the errors of a refusal, beside EPERM and EACCES.
	refusals []syscall.Errno
}

// refused makes the attempt. Any other failure than a refusal is none: the next
// attempt might succeed.
func (a attempt) refused() error {
	errno := a.try()
	switch {
	case errno == 0:
		return fmt.Errorf("%s: worked", a.what)
	case errno == syscall.EPERM || errno == syscall.EACCES || slices.Contains(a.refusals, errno):
		return nil
	default:
		return fmt.Errorf("%s: %w", a.what, errno)
	}
}

// attempt makes all attempts, and gives what holds and, in words, what does not.
func (c *confinement) attempt() (isc.Guarantees, []string) {
	has := isc.FullIsolation
	var worked []string
	lose := func(g isc.Guarantees, why error) {
		if why != nil {
			has = has.Without(g)
			worked = append(worked, why.Error())
		}
	}
	lose(isc.CleanEnv|isc.NoSecrets, c.before.cleanEnv)
	lose(isc.NoSecrets, c.before.fewFiles)
	lose(isc.CrashIsolation|isc.MemoryIsolation|isc.DiesWithHub, c.ownProcess)
	if !c.rootless {
		lose(isc.Killable, c.before.ownGroup)
	}
	for _, group := range [][]attempt{
		c.network(), c.files(), c.executions(), c.peers(), c.exchanges(), c.memory(),
	} {
		for _, a := range group {
			lose(a.breaks, a.refused())
		}
	}
	if c.inDepth(has) {
		has |= isc.DefenceInDepth
	}
	return has, worked
}

// inDepth: namespaces alone kept everything out, as was tried before the rest was
// applied, and now what is refused is refused by the filter (and for a program
// that may have files and a socket by Landlock).
func (c *confinement) inDepth(has isc.Guarantees) bool {
	second := c.filtered && (!c.foreign() || c.rules != nil && c.rules.abi >= 6)
	return c.rootless && c.alone == nil && second && has.Has(isc.NoNetwork|isc.NoFiles|isc.NoPeers)
}
