// Box is the process that the module runs in: a program with the module in it
// and nothing else.
//
// The app.wasm beside it is an empty module. The example builds the program with
// the real one in its place.
//
// # Source
//
// docs/adr/0010-guarantees.md.
package main

import (
	_ "embed"
	"log"

	"github.com/isolategpt/isolategpt/spoke"
	"github.com/isolategpt/isolategpt/spoke/wasm"
)

//go:embed app.wasm
var module []byte

func main() {
	log.SetFlags(0)
	// For a call or two the interpreter is done before the compiler is.
	app, err := wasm.New(module, wasm.Config{Interpreter: true})
	if err != nil {
		log.Fatal("box: ", err)
	}
	// The module is looked at and asked what it is in confinement only.
	spoke.Main(app.Single())
	log.Fatal("box: only the example starts it")
}
