package foreign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
)

// App is an app whose code is a program that is not ours. [Launcher] starts one
// program for each of its spokes. It may be used by any number of spokes at once.
type App struct {
	manifest isc.Manifest
	cfg      Config
}

var _ spoke.App = (*App)(nil)

// ErrLauncher says that an [App] was started by something else than [Launcher],
// which alone confines its program.
var ErrLauncher = errors.New("foreign: an App runs in spokes of foreign.Launcher alone")

// NewApp makes an app of a manifest, whose texts nobody vouches for, and of what
// each of its programs is started with. The manifest's Hosts are the program's,
// and the hub is who authorizes them: cfg names neither. Nothing is started.
func NewApp(manifest isc.Manifest, cfg Config) (*App, error) {
	if err := manifest.Validate(); err != nil {
		return nil, fmt.Errorf("foreign: %w", err)
	}
	if len(cfg.Hosts) > 0 || cfg.Authorize != nil {
		return nil, fmt.Errorf("%w: Hosts and Authorize are not an app's to say: name its hosts in the manifest", errConfig)
	}
	cfg = cfg.orDefault()
	if cfg.App != "" && cfg.App != manifest.ID {
		return nil, fmt.Errorf("%w: App is %q, and the manifest's id is %q", errConfig, cfg.App, manifest.ID)
	}
	cfg.App = manifest.ID
	if err := cfg.check(); err != nil {
		return nil, err
	}
	a := &App{manifest: manifest.Clone(), cfg: cfg}
	a.manifest.Vouched = false
	return a, nil
}

// Manifest is the one that was given.
func (a *App) Manifest() isc.Manifest { return a.manifest.Clone() }

// Handle refuses every call: it is not in a spoke of [Launcher].
func (a *App) Handle(context.Context, spoke.Call) (json.RawMessage, error) { return nil, ErrLauncher }
