package spoke

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"github.com/isolategpt/isolategpt/internal/foreign"
	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/memory"
)

// mainCalled keeps [Process] from executing a program that would not become a
// spoke but do once more whatever its main does. It is a fact about the program,
// which is why it is no part of a value.
var mainCalled atomic.Bool

// errNoMain is what a program hears that forgot.
var errNoMain = errors.New("spoke: the program must call spoke.Main first in main")

// Main makes the program able to be a spoke. It must be called first in main,
// before flags, files and environment are looked at, with every app that the
// program launches with [Process] (in tests, first in TestMain). In an ordinary
// run it returns at once. In a process that Process started it serves its app
// and exits.
func Main(apps ...App) {
	mainCalled.Store(true)
	kind := os.Getenv(marker)
	foreign.Main(kind)
	if kind == "" {
		return
	}
	// Nothing that runs from here on, apps above all, has an environment.
	os.Clearenv()
	if err := runSpoke(apps); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// serveSpoke is the life of a spoke's process over its two connections.
func serveSpoke(hub, hostSide io.ReadWriteCloser, apps []App) error {
	spec, err := agree(hostSide, apps)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(errClosed)
	client := newHostClient(hostSide, cancel)
	defer client.close()
	if spec.hasModel {
		spec.LLM = spec.model(client)
	}
	spec.Memory = memory.NewView(client, memory.AppScope("spoke", "spoke"))
	spec.HTTP = client
	err = Serve(ctx, isc.NewSpokeConn(hub), spec.Spec)
	if errors.Is(err, errClosed) {
		return nil
	}
	return err
}

// agreed is a spec as a process knows it.
type agreed struct {
	Spec
	hasModel      bool
	tools, schema bool
}

// agree reads what the process is to be and says whether it is that: hub and
// spoke must mean the same app, to the byte of its manifest.
func agree(rw io.ReadWriter, apps []App) (agreed, error) {
	var c hostConfig
	if err := readFrame(rw, &c); err != nil {
		return agreed{}, fmt.Errorf("spoke: reading the configuration: %w", err)
	}
	out := agreed{Spec: Spec{Limits: c.Limits}, hasModel: c.Model, tools: c.Tools, schema: c.Schema}
	ready := hostReady{Known: c.App == ""}
	for _, a := range apps {
		m, err := manifestOf(a) // one that panics must not keep another from starting
		if err != nil || c.App == "" || m.ID != c.App {
			continue
		}
		// Of several with one id the manifest says which.
		if out.App, ready.Known, ready.Manifest = a, true, m.Digest().String(); ready.Manifest == c.Manifest {
			break
		}
	}
	if err := writeFrame(rw, ready); err != nil {
		return agreed{}, fmt.Errorf("spoke: answering the configuration: %w", err)
	}
	if !ready.Known || ready.Manifest != c.Manifest {
		return agreed{}, fmt.Errorf("spoke: app %q is not the one that is asked for", c.App)
	}
	return out, nil
}
