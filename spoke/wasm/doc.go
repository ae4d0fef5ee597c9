// Package wasm runs apps that are WebAssembly modules. Such a module has its
// memory, its time, two clocks, random numbers, and the hub. It has no file, no
// socket, no environment, no process and no thread, on every system alike.
//
//	app, err := wasm.Open(ctx, module, wasm.Config{})
//	…
//	h, err := hub.New(hub.Config{Apps: []spoke.App{app}, Launcher: wasm.Launcher{}, …})
//
// Package guest makes a module of an app that is written in Go.
//
// [Launcher] keeps one instance a spoke. Without it, under any other launcher,
// each call has an instance of its own. In neither case does one spoke see what
// another left.
//
// # Trust
//
// The module is wholly the attacker's. Trusted are the runtime, wazero, with its
// compiler, the functions of this package that stand in for the system, and the
// decoder of frames. A hole in one of them opens this process, since the
// module's memory is part of it. On Linux, [spoke.Process] takes a module like
// any other app, which puts the second wall around both.
//
// In this program modules are interpreted: a module of some kilobytes can make
// the compiler take minutes and gigabytes. What it costs to load one is bounded
// by limits on all that a module may have, and only one is translated at a time.
// A module that has the process to itself, see [App.Single], is compiled: what it
// can spend is the process's.
//
// # Source
//
// Paper §IV-A, App. A-A; docs/adr/0010-guarantees.md. Deviation: WASI's
// functions are not those of the runtime, whose files and sockets would merely
// be empty, but a table in which all but ten do nothing.
package wasm
