//go:build !linux || !(amd64 || arm64)

package sandbox

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/isolategpt/isolategpt/isc"
)

func confine(Profile) (isc.Isolation, error) { return isc.Isolation{}, unsupported() }

func exec(Program) error { return unsupported() }

func unsupported() error {
	return fmt.Errorf("sandbox: no confinement on %s/%s: %w", runtime.GOOS, runtime.GOARCH, errors.ErrUnsupported)
}
