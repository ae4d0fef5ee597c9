package wasm_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
	"github.com/isolategpt/isolategpt/spoke/wasm"
)

func BenchmarkOpen(b *testing.B) {
	module := guest(b)
	for engine, cfg := range map[string]wasm.Config{"interpreter": {}, "compiler": {Compile: true}, "cache": {Compile: true, Cache: b.TempDir()}} {
		b.Run(engine, func(b *testing.B) {
			for b.Loop() {
				app, err := wasm.Open(b.Context(), module, cfg)
				require.NoError(b, err)
				require.NoError(b, app.Close())
			}
			b.ReportMetric(float64(len(module)), "B/module")
		})
	}
}

var echo = spoke.Call{Functionality: "note.echo", Body: json.RawMessage(`{"text":"echo"}`)}

// perEngine runs a benchmark on the app of each engine.
func perEngine(b *testing.B, run func(*testing.B, *wasm.App)) {
	for engine, shared := range engines {
		b.Run(engine, func(b *testing.B) {
			b.ReportAllocs()
			run(b, loaded(b, shared))
		})
	}
}

// BenchmarkInstantiate makes an instance for each call.
func BenchmarkInstantiate(b *testing.B) {
	perEngine(b, func(b *testing.B, app *wasm.App) {
		for b.Loop() {
			_, err := app.Handle(b.Context(), echo)
			require.NoError(b, err)
		}
	})
}

// BenchmarkCall goes through a spoke with one instance, which can be ended at
// any time.
func BenchmarkCall(b *testing.B) {
	perEngine(b, func(b *testing.B, app *wasm.App) {
		i, err := launcher.Launch(b.Context(), spoke.Spec{App: app})
		require.NoError(b, err)
		defer func() { require.NoError(b, i.Conn.Close()) }()
		for b.Loop() {
			require.NoError(b, i.Conn.Send(b.Context(), isc.Task{Kind: isc.TaskCall, Functionality: echo.Functionality, Body: echo.Body}))
			m, err := i.Conn.Recv(b.Context())
			require.NoError(b, err)
			require.Equal(b, isc.StatusDone, m.(isc.Result).Status)
		}
	})
}
