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

	mu      sync.Mutex
	loading *loading // nil before, and after one that failed
	inner   *App     // the same module, compiled; nil without
	closed  bool
}

var _ spoke.App = (*App)(nil)

// ErrClosed says that an [App] was used after it was closed.
var ErrClosed = errors.New("wasm: the app is closed")

// Open makes an app of a module and loads it, unless its manifest is given in
// the configuration. It returns when ctx ends, see [App.Load].
func Open(ctx context.Context, module []byte, cfg Config) (*App, error) {
	a, err := New(module, cfg)
	if err != nil {
		return nil, err
	}
	if cfg.Manifest == nil {
		if err := a.Load(ctx); err != nil {
			_ = a.Close()
			return nil, err
		}
	}
	return a, nil
}

// New makes an app of a module and neither translates nor runs anything of it
// before it is used. A program that is to be a spoke itself calls it before
// [spoke.Main], so that the module is touched in confinement only.
func New(module []byte, cfg Config) (*App, error) {
	cfg, err := cfg.checked(module)
	if err != nil {
		return nil, err
	}
	return &App{config: cfg, code: slices.Clone(module)}, nil
}

// Load translates the module, and asks it for its manifest. One that is written in
// Go takes two seconds or so for that, and one for the start of each instance. It does nothing if that was done. The
// error is [ErrManifest] if the manifest is not the one that is asked for, and
// an [*EndedError] if the module ended itself.
//
// When ctx ends, Load returns, and the loading goes on for the next one who asks:
// for seconds at most, unless the module is compiled. Close of the app ends it at
// its next step.
func (a *App) Load(ctx context.Context) error {
	_, err := a.load(ctx)
	return err
}

// Manifest is the one that was given, or the module's own, which nobody vouches
// for. If it was not loaded yet, it is now; without success it is empty.
func (a *App) Manifest() isc.Manifest {
	if a.config.Manifest != nil {
		return a.config.Manifest.Clone()
	}
	l, err := a.load(context.Background())
	if err != nil {
		return isc.Manifest{}
	}
	return l.manifest.Clone()
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
	l, err := a.load(ctx)
	if err != nil {
		return nil, err
	}
	return l.program.start(ctx, l.manifest.ID, a.config.Timeout)
}

// compiled is the app with the compiler, if that may be.
func (a *App) compiled() *App {
	if a.config.Interpreter || a.config.Compile {
		return a
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.inner == nil {
		a.inner = &App{config: a.config, code: a.code, closed: a.closed}
		a.inner.config.Compile = true
	}
	return a.inner
}

// Close frees the translated module and ends all of its instances. A loading that
// still goes on is let go of.
func (a *App) Close() error {
	a.mu.Lock()
	a.closed = true
	loading, inner := a.loading, a.inner
	a.loading, a.inner = nil, nil
	a.mu.Unlock()
	if loading != nil {
		loading.close()
	}
	if inner != nil {
		return inner.Close()
	}
	return nil
}
