// Package guest makes a WebAssembly module of an app, so that package wasm can
// run it.
//
// The app is made with spoke.New like any other. Its program registers it while
// it is initialised, since main never runs in such a module:
//
//	func init() { guest.Serve(app) }
//
//	func main() {}
//
// and is built with
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o app.wasm
//
// Inside there are memory, clocks, randomness and the call's Hub; no file, no
// socket, no environment, no program, and no threads. A panic of a handler is a
// task that failed; os.Exit and a fatal error end the instance. What the app
// keeps in variables may be gone at the next call.
//
// # Trust
//
// Nothing of this package is trusted by the host.
//
// # Source
//
// docs/adr/0010-guarantees.md.
package guest

import (
	"sync/atomic"

	"github.com/isolategpt/isolategpt/spoke"
)

// served is what Serve was called with. It is a fact about the program, which
// exports functions without a receiver.
var served atomic.Pointer[spoke.App]

// Serve makes app the one that the module serves. It returns at once. A second
// call, or one without an app, panics.
func Serve(app spoke.App) {
	if app == nil || !served.CompareAndSwap(nil, &app) {
		panic("guest: Serve must be called once, with an app")
	}
}
