package wasm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
	"github.com/isolategpt/isolategpt/spoke/wasm/internal/frame"
)

// instance is a module that is started, with a memory of its own. It does one
// thing at a time. After an error it is corrupt and must be closed.
type instance struct {
	program *program
	module  api.Module
	app     isc.AppID
	timeout time.Duration
	born    time.Time
	output  output
}

// instanceConfig gives a module nothing. What it has of the system is offered
// by [offerSystem], so that even the runtime's own stand-ins are out of reach.
func instanceConfig() wazero.ModuleConfig {
	return wazero.NewModuleConfig().WithName("").WithStartFunctions()
}

// start makes an instance and lets it initialise itself.
func (p *program) start(ctx context.Context, app isc.AppID, timeout time.Duration) (*instance, error) {
	i := &instance{program: p, app: app, timeout: timeout, born: time.Now()}
	leave, err := p.gate.enter(func(error) {})
	if err != nil {
		return nil, err
	}
	defer leave()
	i.module, err = p.runtime.InstantiateModule(ctx, p.compiled, instanceConfig())
	if err != nil {
		return nil, fmt.Errorf("wasm: instance of app %q: %.256q", app, err.Error())
	}
	if i.module.ExportedFunction("_initialize") != nil {
		err = i.run(ctx, "_initialize", &run{}, nil)
	}
	if err != nil {
		i.close()
		return nil, err
	}
	return i, nil
}

// run runs one function of the module, which has no parameters and results,
// within the module's time. Watch, if it is not nil, is told the stopwatch.
func (i *instance) run(ctx context.Context, name string, r *run, watch func(*stopwatch)) error {
	r.born, r.output = i.born, &i.output
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	leave, err := i.program.gate.enter(cancel)
	if err != nil {
		return err
	}
	defer leave()
	w := newStopwatch(i.timeout, func() { cancel(ErrTimeout) })
	defer w.stop()
	if watch != nil {
		watch(w)
	}
	_, err = i.module.ExportedFunction(name).Call(context.WithValue(ctx, runKey{}, r))
	cause := context.Cause(ctx)
	switch {
	case err == nil:
		return nil
	case errors.Is(cause, ErrTimeout):
		return ended(i.app, ErrTimeout, &i.output)
	case cause != nil:
		return cause
	default:
		return ended(i.app, err, &i.output)
	}
}

// handle serves one call.
func (i *instance) handle(ctx context.Context, c spoke.Call) (json.RawMessage, error) {
	raw, err := first(ctx, c)
	if err != nil {
		return nil, err
	}
	t := &task{hub: c.Hub}
	err = i.run(ctx, frame.Handle, &run{say: t.say, pending: raw}, func(w *stopwatch) { t.watch = w })
	if err == nil && t.done == nil {
		err = ended(i.app, errNoAnswer, &i.output)
	}
	if err != nil {
		return nil, err
	}
	return t.done.Body, t.done.Error.Err()
}

// manifest is what the module says that it is.
func (i *instance) manifest(ctx context.Context) (isc.Manifest, error) {
	var m isc.Manifest
	said := false
	err := i.run(ctx, frame.Manifest, &run{say: func(_ context.Context, raw []byte) ([]byte, error) {
		if said {
			return nil, errAfterDone
		}
		said = true
		var err error
		m, err = isc.DecodeManifest(raw)
		return []byte("{}"), err
	}}, nil)
	if err == nil && !said {
		err = ended(i.app, errNoAnswer, &i.output)
	}
	return m, err
}

func (i *instance) close() { _ = i.module.Close(context.Background()) }
