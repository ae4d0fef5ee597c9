package wasm

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke/wasm/internal/frame"
	"github.com/isolategpt/isolategpt/spoke/wasm/internal/module"
)

// program is a module that is compiled, in a runtime of its own. Any number of
// instances may run at once.
type program struct {
	runtime  wazero.Runtime
	cache    wazero.CompilationCache // nil without
	compiled wazero.CompiledModule
	// isolation is what its instances run in, as the probes found.
	isolation isc.Isolation
	gate      gate
}

// features are without references, by which a module could have tables that
// grow, which no limit of the runtime bounds, and without vectors, which
// [module.Prepare] does not know.
const features = api.CoreFeaturesV2 &^ (api.CoreFeatureReferenceTypes | api.CoreFeatureSIMD)

func (c Config) runtimeConfig() (wazero.RuntimeConfig, wazero.CompilationCache, error) {
	config := wazero.NewRuntimeConfigInterpreter()
	if c.Compile {
		config = wazero.NewRuntimeConfig()
	}
	config = config.WithCoreFeatures(features).WithMemoryLimitPages(c.pages()).WithCloseOnContextDone(true).WithDebugInfoEnabled(false)
	if c.Cache == "" {
		return config, nil, nil
	}
	cache, err := wazero.NewCompilationCacheWithDir(c.Cache)
	if err != nil {
		return nil, nil, fmt.Errorf("wasm: cache: %w", err)
	}
	return config.WithCompilationCache(cache), cache, nil
}

// compile prepares the module and probes what its instances will run in. It
// runs nothing of the module.
func compile(ctx context.Context, code []byte, c Config) (*program, error) {
	p, err := newProgram(ctx, c)
	if err != nil {
		return nil, err
	}
	p.compiled, err = p.translate(ctx, code, c)
	if err == nil {
		err = checkLinks(p.compiled)
	}
	if err == nil {
		p.isolation, err = p.probe(ctx, c)
	}
	if err != nil {
		p.close()
		return nil, fmt.Errorf("wasm: module: %w", err)
	}
	return p, nil
}

// newProgram is one without a module.
func newProgram(ctx context.Context, c Config) (*program, error) {
	config, cache, err := c.runtimeConfig()
	if err != nil {
		return nil, err
	}
	p := &program{runtime: wazero.NewRuntimeWithConfig(ctx, config), cache: cache}
	if err := p.offer(ctx); err != nil {
		p.close()
		return nil, fmt.Errorf("wasm: runtime: %w", err)
	}
	return p, nil
}

// turn is held while a module is translated for the interpreter, so that what
// many cost at once is what one costs. It is never held long.
var turn = make(chan struct{}, 1)

// translate bounds what the module can cost, unless it is compiled, and has the
// runtime check and translate it.
func (p *program) translate(ctx context.Context, code []byte, c Config) (wazero.CompiledModule, error) {
	if !c.Compile {
		select {
		case turn <- struct{}{}:
			defer func() { <-turn }()
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	code, err := module.Prepare(code, int(c.Code))
	if err != nil {
		return nil, err
	}
	return p.compile(ctx, code)
}

// compile hands the module to the runtime. The words of its errors may be the
// module's.
func (p *program) compile(ctx context.Context, code []byte) (_ wazero.CompiledModule, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errors.New("the runtime fails on it")
		}
	}()
	m, err := p.runtime.CompileModule(experimental.WithCompilationWorkers(ctx, runtime.GOMAXPROCS(0)), code)
	switch {
	case err == nil:
		return m, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	default:
		return nil, fmt.Errorf("the runtime refuses it: %.256q", err.Error())
	}
}

// offer makes importable what a module may import.
func (p *program) offer(ctx context.Context) error {
	if err := offerSystem(ctx, p.runtime); err != nil {
		return err
	}
	four := []byte{module.I32, module.I32, module.I32, module.I32}
	b := p.runtime.NewHostModuleBuilder(frame.Module)
	b.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(exchange), four, []byte{module.I32}).Export(frame.Exchange)
	_, err := b.Instantiate(ctx)
	return err
}

var errNoGuest = errors.New("it is no app: build one with package guest, GOOS=wasip1 GOARCH=wasm and -buildmode=c-shared")

// checkLinks refuses a module that imports anything but what there is, or lacks
// what an app must offer.
func checkLinks(m wazero.CompiledModule) error {
	for _, f := range m.ImportedFunctions() {
		from, name, _ := f.Import()
		_, known := system[name]
		switch {
		case from == frame.Module && name == frame.Exchange:
		case from == wasi && (known || name == procExit):
		default:
			return fmt.Errorf("it imports %.64q of %.64q, which does not exist here", name, from)
		}
	}
	if len(m.ImportedMemories()) > 0 {
		return errors.New("it imports a memory, which does not exist here")
	}
	offered := m.ExportedFunctions()
	for _, name := range []string{frame.Manifest, frame.Handle} {
		f, ok := offered[name]
		if !ok || len(f.ParamTypes()) > 0 || len(f.ResultTypes()) > 0 {
			return errNoGuest
		}
	}
	if len(m.ExportedMemories()) == 0 {
		return errNoGuest
	}
	return nil
}

// close ends all instances and waits until nothing runs in them.
func (p *program) close() {
	p.gate.close()
	// What is closed is memory of this process; there is nobody to tell.
	_ = p.runtime.Close(context.Background())
	if p.cache != nil {
		_ = p.cache.Close(context.Background())
	}
}
