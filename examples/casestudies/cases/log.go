package cases

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
)

// Delivered is a call that reached an app's handler.
type Delivered struct {
	App           isc.AppID             `json:"app"`
	Functionality isc.FunctionalityName `json:"functionality"`
	Body          json.RawMessage       `json:"body"`
	// Result is what the app gave, or null if it failed.
	Result json.RawMessage `json:"result"`
}

// log collects calls. It is safe for concurrent use.
type log struct {
	mu    sync.Mutex
	calls []Delivered
}

func (l *log) add(d Delivered) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls = append(l.calls, d)
}

func (l *log) all() []Delivered {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.calls)
}

// of are the calls of one functionality of an app.
func (l *log) of(app isc.AppID, name isc.FunctionalityName) []Delivered {
	return slices.DeleteFunc(l.all(), func(d Delivered) bool { return d.App != app || d.Functionality != name })
}

// recorded is an app whose calls are written down.
type recorded struct {
	spoke.App
	log *log
}

// Handle serves the call and records it, with what it gave.
func (r *recorded) Handle(ctx context.Context, call spoke.Call) (json.RawMessage, error) {
	body := slices.Clone(call.Body)
	result, err := r.App.Handle(ctx, call)
	d := Delivered{App: r.Manifest().ID, Functionality: call.Functionality, Body: body, Result: json.RawMessage("null")}
	if err == nil {
		d.Result = slices.Clone(result)
	}
	r.log.add(d)
	return result, err
}
