package sandbox

import (
	"github.com/isolategpt/isolategpt/isc"
)

// Confine applies every layer that is to be had here, then tries from inside to
// break each guarantee. In the isolation, Has is what failed as it should and
// Layers says what was applied; Name and Lacks are the caller's. Has of a
// [Program] that is not static never holds isc.MemoryLimit: see [DataLimit].
//
// Call it once, early, before anything else runs. An error means that the process
// is neither confined nor as it was, and must end.
func Confine(p Profile) (isc.Isolation, error) {
	if err := p.check(); err != nil {
		return isc.Isolation{}, err
	}
	return confine(p)
}

// Exec becomes the program that the profile of [Confine] named, and no other. It
// is to be called by the goroutine that called Confine, which is locked to its
// thread since then. It returns only on failure.
func Exec(p Program) error {
	if err := p.check(); err != nil {
		return err
	}
	return exec(p)
}
