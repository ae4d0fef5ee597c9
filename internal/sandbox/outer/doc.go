// Package outer takes layers of confinement away, so that tests see what a system
// without them would give: [Exec] puts a filter on the process under which the
// named layers are not to be had, for it and all that runs below, and executes a
// program. It needs no privileges. It makes nothing safe.
//
// # Source
//
// Ours; the layers that may be missing are those of docs/adr/0010-guarantees.md.
package outer

import (
	"errors"
	"fmt"
)

// Layers that can be taken away.
const (
	Landlock   = "landlock"   // as of a kernel without it
	Seccomp    = "seccomp"    // as of a kernel without filters
	Namespaces = "namespaces" // as where an ordinary user may have none of his own
)

var errLayer = errors.New("outer: no such layer")

// Exec executes argv, with this process's environment and without the layers. It
// returns only on failure: with [errors.ErrUnsupported] but on Linux.
func Exec(without, argv []string) error {
	if len(argv) == 0 {
		return errors.New("outer: nothing to execute")
	}
	for _, name := range without {
		if name != Landlock && name != Seccomp && name != Namespaces {
			return fmt.Errorf("%w: %q", errLayer, name)
		}
	}
	return execWithout(without, argv)
}
