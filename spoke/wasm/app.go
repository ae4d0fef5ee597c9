package wasm

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
)

// App is an app that is a WebAssembly module. It may be used by any number of
// spokes at once.
type App struct {
	config Config
	code   []byte

	mu       sync.Mutex // held while it is loaded
	program  *program   // nil before
	manifest isc.Manifest
	closed   bool
}

var _ spoke.App = (*App)(nil)

// ErrClosed says that an [App] was used after it was closed.
var ErrClosed = errors.New("wasm: the app is closed")

// Open makes an app of a module and loads it, unless its manifest is given in
// the configuration. Ctx bounds the loading.
func Open(ctx context.Context, module []byte, cfg Config) (*App, error) {
	a, err := New(module, cfg)
	if err != nil {
		return nil, err
	}
	if cfg.Manifest == nil {
		if err := a.Load(ctx); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// New makes an app of a module and neither compiles nor runs anything of it
// before it is used. A program that is to be a spoke itself calls it before
// [spoke.Main], so that the module is touched in confinement only.
func New(module []byte, cfg Config) (*App, error) {
	cfg, err := cfg.checked(module)
	if err != nil {
		return nil, err
	}
	return &App{config: cfg, code: slices.Clone(module)}, nil
}

// Load compiles the module, which takes a second or so for one that is written
// in Go, and asks it for its manifest. It does nothing if that was done. The
// error is [ErrManifest] if the manifest is not the one that is asked for, and
// an [*EndedError] if the module ended itself.
func (a *App) Load(ctx context.Context) error {
	_, err := a.load(ctx)
	return err
}

func (a *App) load(ctx context.Context) (*program, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil, ErrClosed
	}
	if a.program != nil {
		return a.program, nil
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	p, err := compile(ctx, a.code, a.config)
	if err != nil {
		return nil, err
	}
	m, err := p.manifest(ctx, a.config)
	if err != nil {
		p.close()
		return nil, err
	}
	a.program, a.manifest = p, m
	return p, nil
}

// manifest is that of the module, in an instance which is used for nothing else.
// It is third-party, whatever it says.
func (p *program) manifest(ctx context.Context, c Config) (isc.Manifest, error) {
	var id isc.AppID
	if c.Manifest != nil {
		id = c.Manifest.ID
	}
	i, err := p.start(ctx, id, c.Timeout)
	if err != nil {
		return isc.Manifest{}, err
	}
	defer i.close()
	m, err := i.manifest(ctx)
	if err == nil {
		err = c.accepts(m)
	}
	return m, err
}

// Manifest is the one that was given, or the module's own, which nobody vouches
// for. If it was not loaded yet, it is now; without success it is empty.
func (a *App) Manifest() isc.Manifest {
	if a.config.Manifest != nil {
		return a.config.Manifest.Clone()
	}
	_, err := a.load(context.Background())
	if err != nil {
		return isc.Manifest{}
	}
	return a.manifest.Clone()
}

// Handle serves one call in an instance that is made for it. Errors other than
// those of package spoke are [*EndedError], or of the start.
func (a *App) Handle(ctx context.Context, c spoke.Call) (json.RawMessage, error) {
	i, err := a.start(ctx)
	if err != nil {
		return nil, err
	}
	defer i.close()
	return i.handle(ctx, c)
}

func (a *App) start(ctx context.Context) (*instance, error) {
	p, err := a.load(ctx)
	if err != nil {
		return nil, err
	}
	return p.start(ctx, a.Manifest().ID, a.config.Timeout)
}

// Close frees the compiled module and ends all of its instances.
func (a *App) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	if a.program != nil {
		a.program.close()
		a.program = nil
	}
	return nil
}
