//go:build !unix

package spoke

import (
	"context"
	"errors"
	"fmt"
)

func (processLauncher) launch(context.Context, Spec) (*Instance, error) {
	return nil, fmt.Errorf("spoke: process: %w on this system", errors.ErrUnsupported)
}

func runSpoke([]App) error {
	return fmt.Errorf("spoke: process: %w on this system", errors.ErrUnsupported)
}
