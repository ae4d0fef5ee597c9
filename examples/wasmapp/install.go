package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
	"github.com/isolategpt/isolategpt/spoke/wasm"
)

// installed is the app with what launches it.
type installed struct {
	app      *wasm.App
	launcher spoke.Launcher
	process  *spoke.ProcessLauncher // nil without
}

func (p installed) close() {
	if p.process != nil {
		_ = p.process.Close()
	}
	_ = p.app.Close()
}

// install builds the app and opens it.
func install(ctx context.Context, dir, in string) (installed, error) {
	path, err := buildModule(ctx, dir)
	if err != nil {
		return installed{}, err
	}
	module, err := os.ReadFile(path)
	if err != nil {
		return installed{}, err
	}
	app, err := wasm.Open(ctx, module, wasm.Config{})
	if err != nil {
		return installed{}, err
	}
	p := installed{app: app, launcher: wasm.Launcher{}}
	switch in {
	case "wasm":
		return p, nil
	case "", "process":
		return p.confine(ctx, dir, path, in == "process")
	default:
		p.close()
		return installed{}, fmt.Errorf("no isolation %q: there are process and wasm", in)
	}
}

// confine puts the module into a process, if that is to be had. Where it must
// be, everything else is an error.
func (p installed) confine(ctx context.Context, dir, module string, must bool) (installed, error) {
	probing := spoke.Process(spoke.ProcessConfig{})
	defer func() { _ = probing.Close() }()
	found, err := probing.Probe(ctx)
	if err != nil || !found.Has.Has(isc.FullIsolation) {
		if !must {
			fmt.Fprintln(os.Stderr, "a process cannot be confined here:", found, err)
			return p, nil
		}
		p.close()
		return installed{}, fmt.Errorf("a process cannot be confined here: %s: %w", found, err)
	}
	box, err := buildBox(ctx, dir, module)
	if err != nil {
		p.close()
		return installed{}, err
	}
	// In the process the module is compiled once more, which takes its time.
	p.process = spoke.Process(spoke.ProcessConfig{Program: box, Memory: 1 << 30, StartTimeout: time.Minute})
	p.launcher = p.process
	return p, nil
}
