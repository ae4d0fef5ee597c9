package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"time"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
	"github.com/isolategpt/isolategpt/spoke/wasm"
)

// The values of -isolation.
const (
	strongest = "strongest"
	process   = "process"
	inWasm    = "wasm"
)

// manifest is the app's, as whoever installs it has read and accepted it. A
// module that declares another is not launched.
//
//go:embed manifest.json
var manifest []byte

// installed is the app with what launches it.
type installed struct {
	app      *wasm.App
	launcher spoke.Launcher
	// note is why no process launches it that was preferred; nil otherwise.
	note  error
	close func()
}

// install builds the app, and what launches it. Nothing of the module runs yet.
func install(ctx context.Context, dir, wanted string) (installed, error) {
	path, err := buildModule(ctx, dir)
	if err != nil {
		return installed{}, err
	}
	module, err := os.ReadFile(path)
	if err != nil {
		return installed{}, err
	}
	declared, err := isc.DecodeManifest(manifest)
	if err != nil {
		return installed{}, err
	}
	app, err := wasm.New(module, wasm.Config{Manifest: &declared})
	if err != nil {
		return installed{}, err
	}
	p := installed{app: app, launcher: wasm.Launcher{}, close: func() { _ = app.Close() }}
	if wanted == inWasm {
		return p, nil
	}
	box, err := buildBox(ctx, dir, path)
	if err != nil {
		return installed{}, err
	}
	return p.in(ctx, boxes(box), wanted)
}

// boxes launches processes that have the module in them.
func boxes(path string) *spoke.ProcessLauncher {
	return spoke.Process(spoke.ProcessConfig{Program: path, Memory: 1 << 30, StartTimeout: time.Minute})
}

// in has the app launched in processes, if they can be confined. Where it must
// be, everything else is an error.
func (p installed) in(ctx context.Context, launcher *spoke.ProcessLauncher, wanted string) (installed, error) {
	report, err := launcher.Probe(ctx)
	if missing := isc.FullIsolation.Without(report.Has); err == nil && missing != 0 {
		err = &spoke.UnmetError{App: p.app.Manifest().ID, Isolation: report, Missing: missing}
	}
	if err == nil {
		p.launcher, p.close = launcher, func() { _ = launcher.Close() }
		return p, nil
	}
	_ = launcher.Close()
	if wanted == process {
		return installed{}, fmt.Errorf("-isolation %s: %w", process, err)
	}
	p.note = err
	return p, nil
}
