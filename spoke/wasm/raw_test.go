package wasm_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
	"github.com/isolategpt/isolategpt/spoke/wasm"
	"github.com/isolategpt/isolategpt/spoke/wasm/internal/module"
)

const (
	rawManifest = `{"id":"raw","name":"Raw","functionalities":[{"name":"raw.do","request":{"type":"object"},"response":{"type":"object"}}]}`
	rawDone     = `{"done":{"body":{"text":"done"}}}`
	rawProgress = `{"progress":"working"}`
	answerAt    = 32 << 10
)

// say is code that sends what lies at an address.
func say(at, size int32) []byte {
	return slices.Concat(module.Const(at), module.Const(size), module.Const(0), module.Const(0), module.Call(0), module.Drop())
}

var saysManifest = say(0, int32(len(rawManifest)))

// raw is an app without a compiler: what it does with a manifest and an answer
// in its memory.
func raw(manifest, handle []byte, more ...module.Func) module.Module {
	four := []byte{module.I32, module.I32, module.I32, module.I32}
	data := make([]byte, answerAt, answerAt+len(rawDone+rawProgress))
	copy(data, rawManifest)
	return module.Module{
		Pages: 1,
		Data:  append(data, rawDone+rawProgress...),
		Funcs: append([]module.Func{
			{From: "isolategpt", Name: "exchange", Params: four, Results: []byte{module.I32}},
			{Name: "isolategpt_manifest", Body: manifest},
			{Name: "isolategpt_handle", Body: handle},
		}, more...),
	}
}

var (
	answers  = say(answerAt, int32(len(rawDone)))
	progress = say(answerAt+int32(len(rawDone)), int32(len(rawProgress)))
)

func openRaw(t *testing.T, m module.Module, cfg wasm.Config) (*wasm.App, error) {
	t.Helper()
	a, err := wasm.Open(t.Context(), m.Encode(), cfg)
	if err == nil {
		t.Cleanup(func() { require.NoError(t, a.Close()) })
	}
	return a, err
}

var rawCall = spoke.Call{Functionality: "raw.do", Body: []byte(`{}`), Hub: refusing{}}

func TestEveryEngine(t *testing.T) {
	for _, compile := range []bool{false, true} {
		a, err := openRaw(t, raw(saysManifest, answers), wasm.Config{Compile: compile})
		require.NoError(t, err)
		got, err := a.Handle(t.Context(), rawCall)
		require.NoError(t, err)
		require.JSONEq(t, `{"text":"done"}`, string(got))
		i, err := launcher.Launch(t.Context(), spoke.Spec{App: a})
		require.NoError(t, err)
		require.NoError(t, i.Conn.Close())
	}
}

// TestHostBelievesNoGuest holds that calls of the host that are none end the
// guest, whatever they point at.
func TestHostBelievesNoGuest(t *testing.T) {
	exchange := func(in, inLen, out, outCap int32) []byte {
		return slices.Concat(module.Const(in), module.Const(inLen), module.Const(out), module.Const(outCap), module.Call(0), module.Drop())
	}
	for name, c := range map[string]struct {
		code  []byte
		state string
	}{
		"pointer behind the memory":       {exchange(1<<20, 8, 0, 0), "out of the module's memory"},
		"pointer that wraps":              {exchange(-4, 8, 0, 0), "out of the module's memory"},
		"length over the end":             {exchange(60<<10, 8<<10, 0, 0), "out of the module's memory"},
		"length of 1 GiB":                 {exchange(0, 1<<30, 0, 0), "too large"},
		"length of 4 GiB":                 {exchange(0, -1, 0, 0), "too large"},
		"reply behind the memory":         {exchange(0, 0, 1<<20, 1<<20), "out of the module's memory"},
		"reply over the end":              {exchange(0, 0, 65535, 1<<20), "out of the module's memory"},
		"no JSON":                         {exchange(40<<10, 8, 0, 0), "malformed frame"},
		"the manifest where a frame must": {saysManifest, "malformed frame"},
		"two answers":                     {slices.Concat(answers, answers), "after its answer"},
		"no answer":                       {nil, "without an answer"},
		"a trap":                          {module.Trap(), "wasm error: unreachable"},
		"a trap after the answer":         {append(slices.Clone(answers), module.Trap()...), "wasm error: unreachable"},
		"no end of depth":                 {module.Call(2), "wasm error: stack overflow|out of time"},
		"no end":                          {module.Forever(), "out of time"},
		"no end of calls":                 {module.Forever(exchange(0, 0, 0, 0)...), "out of time"},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := openRaw(t, raw(saysManifest, c.code), wasm.Config{Timeout: 200 * time.Millisecond})
			require.NoError(t, err)
			_, err = a.Handle(t.Context(), rawCall)
			died, ok := errors.AsType[*wasm.EndedError](err)
			require.True(t, ok, "%v", err)
			require.Regexp(t, c.state, died.Error())
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	i32 := []byte{module.I32}
	other := isc.Manifest{ID: "other", Name: "Other"}
	for name, c := range map[string]struct {
		module module.Module
		cfg    wasm.Config
		text   string
	}{
		"another import":                   {with(module.Func{From: "env", Name: "system", Params: i32}), wasm.Config{}, "which does not exist here"},
		"a system's function of ours":      {with(module.Func{From: "isolategpt", Name: "open"}), wasm.Config{}, "which does not exist here"},
		"a system's function that is none": {with(module.Func{From: "wasi_snapshot_preview1", Name: "sock_open", Params: i32}), wasm.Config{}, "which does not exist here"},
		"another signature":                {with(module.Func{From: "wasi_snapshot_preview1", Name: "fd_close"}), wasm.Config{}, "signature"},
		"more memory than the limit":       {module.Module{Pages: 129, Funcs: raw(nil, nil).Funcs}, wasm.Config{Memory: 8 << 20}, "memory"},
		"a huge table":                     {module.Module{Pages: 1, Table: 1 << 27, Funcs: raw(nil, nil).Funcs}, wasm.Config{}, "table"},
		"a start before the limits":        {starting(), wasm.Config{}, "starts by itself"},
		"no manifest":                      {raw(nil, answers), wasm.Config{}, "without an answer"},
		"two manifests":                    {raw(slices.Concat(saysManifest, saysManifest), answers), wasm.Config{}, "after its answer"},
		"a manifest that is none":          {raw(answers, answers), wasm.Config{}, "key that does not belong"},
		"a start that ends it":             {raw(saysManifest, answers, module.Func{Name: "_initialize", Body: module.Trap()}), wasm.Config{}, "unreachable"},
		"a start without end":              {raw(saysManifest, answers, module.Func{Name: "_initialize", Body: module.Forever()}), wasm.Config{Timeout: 50 * time.Millisecond}, "out of time"},
		"words at the start":               {raw(saysManifest, answers, module.Func{Name: "_initialize", Body: saysManifest}), wasm.Config{}, "nothing may be said"},
		"an export with parameters":        {module.Module{Pages: 1, Funcs: []module.Func{{Name: "isolategpt_manifest", Params: i32}, {Name: "isolategpt_handle"}}}, wasm.Config{}, "no app"},
		"another pin":                      {raw(saysManifest, answers), wasm.Config{Pin: isc.DigestOf(nil)}, "pin"},
		"a manifest with another pin":      {raw(saysManifest, answers), wasm.Config{Manifest: &other, Pin: isc.DigestOf(nil)}, "pin"},
		"little memory":                    {raw(saysManifest, answers), wasm.Config{Memory: 1}, "memory"},
		"much memory":                      {raw(saysManifest, answers), wasm.Config{Memory: 1 << 40}, "memory"},
		"less than no time":                {raw(saysManifest, answers), wasm.Config{Timeout: -1}, "timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := openRaw(t, c.module, c.cfg)
			require.ErrorContains(t, err, c.text)
		})
	}
	for _, code := range [][]byte{nil, []byte("\x00asm"), []byte("#!/bin/sh"), append(raw(nil, nil).Encode(), 4, 200)} {
		_, err := wasm.Open(t.Context(), code, wasm.Config{})
		require.Error(t, err)
	}
}

// starting has a function that never ends and starts by itself.
func starting() module.Module {
	m := raw(saysManifest, answers, module.Func{Name: "start", Body: module.Forever()})
	m.Start = 3
	return m
}

// with has one more import.
func with(f module.Func) module.Module {
	m := raw(saysManifest, answers)
	m.Funcs = slices.Insert(m.Funcs, 1, f)
	return m
}

func TestAModuleIsTheAppThatIsAskedFor(t *testing.T) {
	a, err := openRaw(t, raw(saysManifest, answers), wasm.Config{})
	require.NoError(t, err)
	m := a.Manifest()
	require.False(t, m.Vouched)
	m.Vouched = true
	a, err = openRaw(t, raw(saysManifest, answers), wasm.Config{Manifest: &m, Pin: m.Digest()})
	require.NoError(t, err)
	require.True(t, a.Manifest().Vouched, "the program vouches, not the module")
	require.NoError(t, a.Load(t.Context()))

	m.Version = "2"
	a, err = openRaw(t, raw(saysManifest, answers), wasm.Config{Manifest: &m})
	require.NoError(t, err, "nothing was run yet")
	require.ErrorIs(t, a.Load(t.Context()), wasm.ErrManifest)
	_, err = wasm.Launcher{}.Launch(t.Context(), spoke.Spec{App: a})
	require.ErrorIs(t, err, wasm.ErrManifest)
	_, err = a.Handle(t.Context(), rawCall)
	require.ErrorIs(t, err, wasm.ErrManifest)
}

func TestNewRunsNothing(t *testing.T) {
	a, err := wasm.New(raw(module.Trap(), answers).Encode(), wasm.Config{})
	require.NoError(t, err)
	_, died := errors.AsType[*wasm.EndedError](a.Load(t.Context()))
	require.True(t, died)
	require.Empty(t, a.Manifest())
}

func TestAClosedAppIsClosed(t *testing.T) {
	a, err := openRaw(t, raw(saysManifest, answers), wasm.Config{})
	require.NoError(t, err)
	i, err := wasm.Launcher{}.Launch(t.Context(), spoke.Spec{App: a})
	require.NoError(t, err)
	require.NoError(t, a.Close())
	require.NoError(t, a.Close())
	require.NoError(t, i.Conn.Close(), "of a spoke that is still there")
	_, err = a.Handle(t.Context(), rawCall)
	require.ErrorIs(t, err, wasm.ErrClosed)
	require.ErrorIs(t, a.Load(t.Context()), wasm.ErrClosed)
}

// signalling is a hub that says that it was asked.
type signalling struct {
	refusing
	running chan struct{}
}

func (s signalling) Progress(context.Context, string) error {
	select {
	case s.running <- struct{}{}:
	default:
	}
	return nil
}

func TestCloseEndsWhatRuns(t *testing.T) {
	a, err := openRaw(t, raw(saysManifest, module.Forever(progress...)), wasm.Config{})
	require.NoError(t, err)
	running := make(chan struct{}, 1)
	ended := make(chan error)
	go func() {
		c := rawCall
		c.Hub = signalling{running: running}
		_, err := a.Handle(context.Background(), c)
		ended <- err
	}()
	<-running
	require.NoError(t, a.Close())
	require.ErrorIs(t, <-ended, wasm.ErrClosed)
}

// waiting is a hub that takes longer than the module may.
type waiting struct{ refusing }

func (waiting) Progress(ctx context.Context, _ string) error {
	timer := time.NewTimer(600 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func TestWaitingForTheHubIsNotTheModulesTime(t *testing.T) {
	a, err := openRaw(t, raw(saysManifest, slices.Concat(progress, answers)), wasm.Config{Timeout: 500 * time.Millisecond})
	require.NoError(t, err)
	c := rawCall
	c.Hub = waiting{}
	_, err = a.Handle(t.Context(), c)
	require.NoError(t, err)

	a, err = openRaw(t, raw(saysManifest, slices.Concat(progress, module.Forever())), wasm.Config{Timeout: 500 * time.Millisecond})
	require.NoError(t, err)
	_, err = a.Handle(t.Context(), c)
	require.ErrorIs(t, err, wasm.ErrTimeout, "but all of the rest is")
}
