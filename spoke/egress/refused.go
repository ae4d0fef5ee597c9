package egress

import (
	"fmt"

	"github.com/isolategpt/isolategpt/spoke"
)

// RefusedError says why something may not be sent. It is for the program: a
// spoke learns no more than [spoke.ErrRefused], which it wraps.
type RefusedError struct {
	Host   string // as it was asked for; "" if it is no name
	Reason string // "address 10.0.0.1 is private"
}

// Error names host and reason.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("egress: host %q: refused: %s", e.Host, e.Reason)
}

// Unwrap gives [spoke.ErrRefused].
func (e *RefusedError) Unwrap() error { return spoke.ErrRefused }
