//go:build !unix

package spoke

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/isolategpt/isolategpt/isc"
)

// ProcessLauncher starts spokes as processes. See [Process].
type ProcessLauncher struct {
	cfg    ProcessConfig
	warned sync.Once
}

var errNoProcess = fmt.Errorf("spoke: process: %w on this system", errors.ErrUnsupported)

func (l *ProcessLauncher) launch(context.Context, Spec) (*Instance, error) { return nil, errNoProcess }

func (l *ProcessLauncher) probe(context.Context) (isc.Isolation, error) {
	return isc.Isolation{}, errNoProcess
}

// Close has nothing to end.
func (l *ProcessLauncher) Close() error { return nil }

func runSpoke([]App) error { return errNoProcess }
