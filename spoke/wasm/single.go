package wasm

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
)

// single is an app as one spoke has it: with one instance, which serves its
// calls one after another.
type single struct {
	app      *App
	mu       sync.Mutex // held over a whole call
	instance *instance  // nil if there is none
}

// Single is the app for the one spoke of a process, to be given to [spoke.Main]:
// all calls share one instance, so that what a call leaves the next one finds. An
// instance that ended is replaced at the next call. The value must not serve more
// than one spoke; [Launcher] takes care of that by itself.
func (a *App) Single() spoke.App { return &single{app: a} }

func (s *single) Manifest() isc.Manifest { return s.app.Manifest() }

func (s *single) Handle(ctx context.Context, c spoke.Call) (json.RawMessage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
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

// drop ends the instance. The caller holds the lock, or is the only user.
func (s *single) drop() {
	if s.instance != nil {
		s.instance.close()
		s.instance = nil
	}
}
