package spoke

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/isolategpt/isolategpt/isc"
)

// New builds an app of a manifest and its parts. The functionalities of the
// parts are added to the manifest's own, which must be served by the agent,
// since nothing else could serve them. All that is wrong is reported at once,
// each with the name of the functionality and the field.
func New(manifest isc.Manifest, parts ...Part) (App, error) {
	a := &app{manifest: manifest.Clone(), handlers: make(map[isc.FunctionalityName]handler, len(parts))}
	var errs []error
	for _, f := range a.manifest.Functionalities {
		if !f.Agent {
			errs = append(errs, fmt.Errorf("%s: nothing serves it: declare it with Func or Agent", f.Name))
		}
	}
	for _, p := range parts {
		if err := a.add(p); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", p.functionality.Name, err))
		}
	}
	if len(errs) == 0 {
		errs = append(errs, a.manifest.Validate())
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("spoke: app %q: %w", manifest.ID, err)
	}
	return a, nil
}

type app struct {
	manifest isc.Manifest
	handlers map[isc.FunctionalityName]handler
}

func (a *app) add(p Part) error {
	f := p.functionality
	if p.err != nil {
		return p.err
	}
	if f.Request == nil || f.Response == nil {
		return errors.New("a part must come from Func, FuncWith or Agent")
	}
	if _, twice := a.manifest.Find(f.Name); twice {
		return errors.New("two functionalities have this name")
	}
	a.manifest.Functionalities = append(a.manifest.Functionalities, f)
	if p.handler != nil {
		a.handlers[f.Name] = p.handler
	}
	return nil
}

// Manifest is a copy.
func (a *app) Manifest() isc.Manifest { return a.manifest.Clone() }

// Handle checks the body, so that it is safe without an operator.
func (a *app) Handle(ctx context.Context, call Call) (json.RawMessage, error) {
	f, ok := a.manifest.Find(call.Functionality)
	if !ok {
		return nil, a.noHandler(call.Functionality)
	}
	var err error
	if call.Body, call.tree, err = f.Request.CheckTree(call.Body); err != nil {
		return nil, fmt.Errorf("spoke: %s: request: %w", f.Name, err)
	}
	return a.serve(ctx, call)
}

// serve is Handle for a body that passed the request format already, with its
// tree.
func (a *app) serve(ctx context.Context, call Call) (json.RawMessage, error) {
	h, ok := a.handlers[call.Functionality]
	if !ok {
		return nil, a.noHandler(call.Functionality)
	}
	return h(ctx, call)
}

func (a *app) noHandler(name isc.FunctionalityName) error {
	return fmt.Errorf("spoke: app %q has no handler for %q", a.manifest.ID, name)
}

// objectOnly: the arguments of a functionality are named, so its In is a struct
// or a map.
func objectOnly(t reflect.Type) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() == reflect.Struct && t != timeType && t != urlType || t.Kind() == reflect.Map {
		return nil
	}
	return fmt.Errorf("%s: the input must be a struct or a map, so that its arguments have names", t)
}
