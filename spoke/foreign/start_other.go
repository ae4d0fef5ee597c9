//go:build !linux

package foreign

import (
	"context"
	"errors"
	"fmt"
	"runtime"
)

func start(context.Context, Config) (*Program, error) {
	return nil, fmt.Errorf("foreign: no confinement on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}
