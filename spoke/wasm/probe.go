package wasm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tetratelabs/wazero/api"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke/wasm/internal/module"
)

const kind = "wasm"

// probeTime is what the probes that never end by themselves are given.
const probeTime = 20 * time.Millisecond

// prober is a module that tries what no module may, in the runtime, with the
// imports and under the limits of the app's module: an app's module cannot be
// made to try by itself.
type prober struct {
	program *program
	code    []byte
	pages   uint32
}

// probe runs all attempts. What it claims is what failed as it should; its error
// says that it could not try.
//
// What has no attempt follows from what there is to import: [checkLinks] holds
// that. A module that dies with this process needs none.
func (p *program) probe(ctx context.Context, c Config) (isc.Isolation, error) {
	code, err := module.Prepare(probeModule(), minMemory)
	if err != nil {
		return isc.Isolation{}, err
	}
	b := &prober{program: p, code: code, pages: c.pages()}
	out := isc.Isolation{Name: kind, Has: isc.HubOnly | isc.DiesWithHub, Layers: []isc.Layer{
		{Name: "webassembly", Applied: true, Detail: c.engine()},
		{Name: "memory-limit", Applied: true, Detail: fmt.Sprintf("%d MiB", c.Memory>>20)},
		{Name: "deadline", Applied: true, Detail: c.Timeout.String() + " a call"},
	}}
	for _, a := range attempts {
		held, err := a.try(ctx, b)
		if err != nil {
			return isc.Isolation{}, fmt.Errorf("probe %s: %w", a.gives, err)
		}
		if held {
			out.Has |= a.gives
		} else {
			out.Layers[0].Detail += fmt.Sprintf("; broken: %s", a.gives)
		}
	}
	if c.Compile {
		out.Has = out.Has.Without(unbounded)
	}
	return out.Preferring(0), nil
}

// unbounded is what no attempt at run time shows of a module that is compiled:
// the compiler's own time and memory have no bound.
const unbounded = isc.CrashIsolation | isc.MemoryLimit

func (c Config) engine() string {
	if c.Compile {
		return "wazero, compiler, which a module can make take minutes and gigabytes"
	}
	return "wazero, interpreter"
}

// in runs f on a fresh instance of the probing module.
func (b *prober) in(ctx context.Context, f func(ctx context.Context, m api.Module) (bool, error)) (bool, error) {
	ctx = context.WithValue(ctx, runKey{}, &run{born: time.Now(), output: &output{}})
	compiled, err := b.program.runtime.CompileModule(ctx, b.code)
	if err != nil {
		return false, err
	}
	defer func() { _ = compiled.Close(context.Background()) }()
	m, err := b.program.runtime.InstantiateModule(ctx, compiled, instanceConfig())
	if err != nil {
		return false, err
	}
	defer func() { _ = m.Close(context.Background()) }()
	return f(ctx, m)
}

// errno is what a function of the system gives.
func errno(ctx context.Context, m api.Module, name string, p ...uint64) (uint32, error) {
	f := m.ExportedFunction(name)
	if f == nil {
		return 0, errors.New("the probing module lacks " + name)
	}
	out, err := f.Call(ctx, p...)
	if err != nil {
		return 0, err
	}
	return uint32(out[0]), nil
}

// probeModule calls each function of the system with whatever it is called with
// itself, grows, reads anywhere, traps, loops, sleeps, and calls without end.
func probeModule() []byte {
	m := module.Module{Pages: 1, Data: probeData()}
	for _, name := range systemNames() {
		m.Funcs = append(m.Funcs, module.Func{From: wasi, Name: name, Params: valueTypes(system[name].params), Results: []byte{module.I32}})
	}
	for i, f := range m.Funcs {
		var body []byte
		for j := range f.Params {
			body = append(body, module.Get(uint32(j))...)
		}
		m.Funcs = append(m.Funcs, module.Func{Name: f.Name, Params: f.Params, Results: f.Results, Body: append(body, module.Call(uint32(i))...)})
	}
	one, result := []byte{module.I32}, []byte{module.I32}
	m.Funcs = append(m.Funcs,
		module.Func{Name: "grow", Params: one, Results: result, Body: append(module.Get(0), module.Grow()...)},
		module.Func{Name: "load", Params: one, Results: result, Body: append(module.Get(0), module.Load()...)},
		module.Func{Name: "trap", Body: module.Trap()},
		module.Func{Name: "loop", Body: module.Forever()},
		module.Func{Name: "slumber", Body: module.Forever(slumber(m.Funcs)...)},
		module.Func{Name: "leaf"},
	)
	// A tree of calls without a loop that takes longer than anybody waits.
	for range 60 {
		below := module.Call(uint32(len(m.Funcs) - 1))
		m.Funcs = append(m.Funcs, module.Func{Name: fmt.Sprint("tree", len(m.Funcs)), Body: slices.Concat(below, below)})
	}
	m.Funcs[len(m.Funcs)-1].Name = "tree"
	return m.Encode()
}

// slumber sleeps for what [probeData] says.
func slumber(funcs []module.Func) []byte {
	poll := slices.IndexFunc(funcs, func(f module.Func) bool { return f.Name == "poll_oneoff" })
	return slices.Concat(module.Const(sleepAt), module.Const(outAt), module.Const(1), module.Const(outAt+eventSize),
		module.Call(uint32(poll)), module.Drop())
}
