// Wasmapp runs an app that is a WebAssembly module, which it builds itself. The
// app has memory, time and the hub; on Linux it runs inside a confined process
// besides.
//
//	go run ./examples/wasmapp
//	go run ./examples/wasmapp -in wasm
//
// It needs the Go tool, and no key and no network: one canned plan stands in for
// a model.
//
// # Trust
//
// The app is wholly the attacker's; see package wasm.
//
// # Source
//
// Paper §IV-A, App. A-A; docs/adr/0010-guarantees.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"

	"github.com/isolategpt/isolategpt/permission/terminal"
	"github.com/isolategpt/isolategpt/spoke"
)

func main() {
	log.SetFlags(0)
	spoke.Main() // its spokes that are processes begin as this program
	in := flag.String("in", "", "the `isolation`, process or wasm; by default process where that is to be had")
	flag.Parse()
	if err := run(context.Background(), *in); err != nil {
		log.Fatal("wasmapp: ", err)
	}
}

func run(ctx context.Context, in string) error {
	dir, err := os.MkdirTemp("", "wasmapp")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	p, err := install(ctx, dir, in)
	if err != nil {
		return err
	}
	defer p.close()
	answer, isolation, err := ask(ctx, p, terminal.New(os.Stdin, os.Stderr))
	if err != nil {
		return err
	}
	fmt.Println(answer)
	fmt.Println("isolation:", isolation)
	return nil
}
