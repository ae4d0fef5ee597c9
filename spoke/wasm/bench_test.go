package wasm_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
	"github.com/isolategpt/isolategpt/spoke/wasm"
)

func BenchmarkCompile(b *testing.B) {
	module := guest(b)
	for b.Loop() {
		app, err := wasm.Open(b.Context(), module, wasm.Config{})
		require.NoError(b, err)
		require.NoError(b, app.Close())
	}
	b.ReportMetric(float64(len(module)), "B/module")
}

func BenchmarkCompileFromCache(b *testing.B) {
	module, cfg := guest(b), wasm.Config{Cache: b.TempDir()}
	for b.Loop() {
		app, err := wasm.Open(b.Context(), module, cfg)
		require.NoError(b, err)
		require.NoError(b, app.Close())
	}
}

var echo = spoke.Call{Functionality: "note.echo", Body: json.RawMessage(`{"text":"echo"}`)}

// BenchmarkInstantiate makes an instance for each call.
func BenchmarkInstantiate(b *testing.B) {
	app := app(b)
	b.ReportAllocs()
	for b.Loop() {
		_, err := app.Handle(b.Context(), echo)
		require.NoError(b, err)
	}
}

func BenchmarkLaunch(b *testing.B) {
	app := app(b)
	for b.Loop() {
		i, err := wasm.Launcher{}.Launch(b.Context(), spoke.Spec{App: app})
		require.NoError(b, err)
		require.NoError(b, i.Conn.Close())
	}
}

// BenchmarkCall goes through a spoke with one instance, which can be ended at
// any time.
func BenchmarkCall(b *testing.B) {
	app := app(b)
	i, err := wasm.Launcher{}.Launch(b.Context(), spoke.Spec{App: app})
	require.NoError(b, err)
	defer func() { require.NoError(b, i.Conn.Close()) }()
	b.ReportAllocs()
	for b.Loop() {
		require.NoError(b, i.Conn.Send(b.Context(), isc.Task{Kind: isc.TaskCall, Functionality: echo.Functionality, Body: echo.Body}))
		m, err := i.Conn.Recv(b.Context())
		require.NoError(b, err)
		require.Equal(b, isc.StatusDone, m.(isc.Result).Status)
	}
}
