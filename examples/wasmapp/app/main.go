// App is an app that becomes a WebAssembly module: it counts words. It also
// looks around, to show what there is to see.
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o app.wasm ./examples/wasmapp/app
//
// # Source
//
// docs/adr/0010-guarantees.md.
package main

import (
	"context"
	"log"
	"os"
	"strings"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
	"github.com/isolategpt/isolategpt/spoke/wasm/guest"
)

type text struct {
	Text string `json:"text"`
}

type count struct {
	Words int `json:"words" isolate:"min=0,max=1000000"`
}

type nothing struct{}

type sight struct {
	Files     int `json:"files" isolate:"min=0,max=1000000"`
	Variables int `json:"variables" isolate:"min=0,max=1000000"`
}

func words(_ context.Context, in text) (count, error) {
	return count{Words: len(strings.Fields(in.Text))}, nil
}

// look counts the files of the root and the variables of the environment.
func look(context.Context, nothing) (sight, error) {
	files, _ := os.ReadDir("/") // an error is no file
	return sight{Files: len(files), Variables: len(os.Environ())}, nil
}

// A module's main never runs; what it serves is registered before.
func init() {
	app, err := spoke.New(isc.Manifest{ID: "counter", Name: "Counter"},
		spoke.Func("words.count", words, spoke.Reads()),
		spoke.Func("place.look", look, spoke.Reads()),
	)
	if err != nil {
		log.Fatal("app: ", err)
	}
	guest.Serve(app)
}

func main() {
	log.Fatal("app: it is no program of its own: build it for wasip1, with -buildmode=c-shared")
}
