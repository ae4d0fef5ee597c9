//go:build !linux

package sandboxtest

import (
	"context"
	"errors"

	"github.com/isolategpt/isolategpt/spoke"
)

func attacks() []attack { return nil }

func reason(err error) string { return err.Error() }

func serveUnconfined() {}

type holder struct{}

func (*holder) hold() (victim, error) { return victim{}, errors.ErrUnsupported }

func (*holder) report() (victim, error) { return victim{}, errors.ErrUnsupported }

type attempt struct{}

type unsupported struct{}

func (unsupported) Launch(context.Context, spoke.Spec) (*spoke.Instance, error) {
	return nil, errors.ErrUnsupported
}

func unconfined() spoke.Launcher { return unsupported{} }

func run(context.Context, Config) ([]Row, error) { return nil, errors.ErrUnsupported }
