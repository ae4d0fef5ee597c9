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
	// Given is the data of the user that the app asked for and got meanwhile.
	Given map[string]json.RawMessage `json:"given,omitempty"`
}

// log collects calls. It is safe for concurrent use.
type log struct {
	mu    sync.Mutex
	calls []Delivered
	parts map[isc.AppID]string // of reports, by app
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

// recorded is an app whose calls are written down: in log, or, where that is nil
// since the app runs in a process of its own, by a report to the world outside.
type recorded struct {
	spoke.App
	manifest isc.Manifest
	log      *log
}

// Manifest names the case in the version, so that the processes of one case are
// not taken for those of another whose apps only behave differently.
func (r *recorded) Manifest() isc.Manifest { return r.manifest.Clone() }

// Handle serves the call and records it, with what it gave.
func (r *recorded) Handle(ctx context.Context, call spoke.Call) (json.RawMessage, error) {
	body := slices.Clone(call.Body)
	out := call.Hub
	given := &asking{Hub: out}
	call.Hub = given
	result, err := r.App.Handle(ctx, call)
	d := Delivered{App: r.manifest.ID, Functionality: call.Functionality, Body: body, Result: json.RawMessage("null"), Given: given.got}
	if err == nil {
		d.Result = slices.Clone(result)
	}
	if r.log != nil {
		r.log.add(d)
	} else if told := tell(ctx, out, d); told != nil {
		return nil, told
	}
	return result, err
}

// asking remembers what an app asked for and got.
type asking struct {
	spoke.Hub
	got map[string]json.RawMessage
}

// Need passes the request on.
func (a *asking) Need(ctx context.Context, fields ...isc.DataField) (map[string]json.RawMessage, error) {
	given, err := a.Hub.Need(ctx, fields...)
	for name, value := range given {
		if a.got == nil {
			a.got = map[string]json.RawMessage{}
		}
		a.got[name] = value
	}
	return given, err
}
