package foreign

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/isolategpt/isolategpt/isc"
)

// errNoMain is what a program hears that forgot.
var errNoMain = errors.New("foreign: this program must call spoke.Main first in main, whose process the other becomes")

// Start starts a program that is not ours, confined. The context governs the
// start only.
//
// It gives a [*spoke.UnmetError] if what is demanded is not shown to hold here, or
// if Hosts are named where no network namespace can be had: nothing of the
// program has run then. On systems other than Linux it gives
// [errors.ErrUnsupported].
func Start(ctx context.Context, cfg Config) (*Program, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	cfg = cfg.orDefault()
	if err := cfg.check(); err != nil {
		return nil, err
	}
	if cfg.App == "" {
		cfg.App = isc.AppID(filepath.Base(cfg.Path))
	}
	return start(ctx, cfg)
}
