package wasm_test

import (
	"context"
	"fmt"
	"os"

	"github.com/isolategpt/isolategpt/spoke"
	"github.com/isolategpt/isolategpt/spoke/wasm"
)

func ExampleOpen() {
	ctx := context.Background()
	module, err := os.ReadFile("app.wasm")
	if err != nil {
		return
	}
	app, err := wasm.Open(ctx, module, wasm.Config{Memory: 32 << 20})
	if err != nil {
		return
	}
	defer func() { _ = app.Close() }()
	instance, err := wasm.Launcher{}.Launch(ctx, spoke.Spec{App: app})
	if err != nil {
		return
	}
	fmt.Println(instance.Isolation) // wasm: crash-isolation, memory-isolation, killable, …
	_ = instance.Conn.Close()
}
