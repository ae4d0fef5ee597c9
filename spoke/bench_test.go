package spoke_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
)

// BenchmarkCall is one call of a handler through a warm spoke, there and back.
func BenchmarkCall(b *testing.B) {
	launchers := map[string]spoke.Launcher{"in-process": spoke.InProcess()}
	if hasProcesses {
		launchers["process"] = spoke.Process(spoke.ProcessConfig{Waive: isc.FullIsolation})
	}
	app, err := taxi()
	if err != nil {
		b.Fatal(err)
	}
	for name, l := range launchers {
		b.Run(name, func(b *testing.B) {
			i, err := l.Launch(context.Background(), spoke.Spec{App: app})
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = i.Conn.Close() }()
			task := isc.Task{Kind: isc.TaskCall, Functionality: "ride.fare", Body: json.RawMessage(`{"to":"Main St 1","riders":2}`)}
			b.ReportAllocs()
			for b.Loop() {
				if err := i.Conn.Send(context.Background(), task); err != nil {
					b.Fatal(err)
				}
				if _, err := i.Conn.Recv(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkLaunch is the start and the end of a spoke.
func BenchmarkLaunch(b *testing.B) {
	launchers := map[string]spoke.Launcher{"in-process": spoke.InProcess()}
	if hasProcesses {
		launchers["process"] = spoke.Process(spoke.ProcessConfig{Waive: isc.FullIsolation})
	}
	app, err := taxi()
	if err != nil {
		b.Fatal(err)
	}
	for name, l := range launchers {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				i, err := l.Launch(context.Background(), spoke.Spec{App: app})
				if err != nil {
					b.Fatal(err)
				}
				if err := i.Conn.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
