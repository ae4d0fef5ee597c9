package wasm

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
)

// single is an app as one spoke has it: with one instance, which serves its
// calls one after another.
type single struct {
	app      *App
	turn     chan struct{} // full over a whole call
	instance *instance     // nil if there is none
}

func newSingle(a *App, first *instance) *single {
	return &single{app: a, turn: make(chan struct{}, 1), instance: first}
}

// Single is the app for the one spoke of a confined process, to be given to
// [spoke.Main]: all calls share one instance, so that what a call leaves the next
// one finds. An instance that ended is replaced at the next call. The value must
// not serve more than one spoke; [Launcher] takes care of that by itself.
//
// The module is compiled, unless [Config.Interpreter] is set: what a hostile one
// costs the compiler is bounded by the limits of the process, and by how long it
// may take to start. Outside of a process of its own nothing bounds it. Close of
// a ends this app, too.
func (a *App) Single() spoke.App { return newSingle(a.compiled(), nil) }

func (s *single) Manifest() isc.Manifest { return s.app.Manifest() }

func (s *single) Handle(ctx context.Context, c spoke.Call) (json.RawMessage, error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if s.instance == nil {
		i, err := s.app.start(ctx)
		if err != nil {
			return nil, err
		}
		s.instance = i
	}
	body, err := s.instance.handle(ctx, c)
	if _, died := errors.AsType[*EndedError](err); died || ctx.Err() != nil {
		s.drop() // a context that ends stops it wherever it is
	}
	return body, err
}

// drop ends the instance. The caller has the turn, or is the only user.
func (s *single) drop() {
	if s.instance != nil {
		s.instance.close()
		s.instance = nil
	}
}
