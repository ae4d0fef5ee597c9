//go:build !unix

package child

import (
	"errors"
	"fmt"
)

func unsupported(what string) error {
	return fmt.Errorf("child: %s: %w on this system", what, errors.ErrUnsupported)
}

// Start gives [errors.ErrUnsupported].
func Start(cfg Config) (*Child, error) { return nil, unsupported("starting " + cfg.Name) }

// End gives [errors.ErrUnsupported].
func (c *Child) End(func()) error { return unsupported("ending " + c.name) }

// Kill does nothing.
func (c *Child) Kill() {}

// Namespaces says that there are none.
func Namespaces() error { return unsupported("new namespaces") }
