//go:build !linux

package foreign

import (
	"errors"
	"fmt"
	"runtime"
)

func become() error {
	return fmt.Errorf("foreign: no confinement on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}
