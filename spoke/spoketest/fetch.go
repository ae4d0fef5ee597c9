package spoketest

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
)

// Host is the one remote host of the workshop's manifest.
const Host = "notes.example.com"

// fetchCases are about remote hosts.
var fetchCases = []testCase{
	{"a host of the manifest is reached through the host side", func(t *testing.T, l spoke.Launcher) {
		var outside fetcher
		d := launch(t, l, spoke.Spec{App: workshop(), HTTP: &outside})
		d.call("note.fetch", "https://"+Host+"/a?b")
		require.JSONEq(t, `{"text":"200 POST https://notes.example.com/a?b body"}`, d.done())
	}},
	{"P1 no other host is, and nothing that is no plain request", func(t *testing.T, l spoke.Launcher) {
		var outside fetcher
		d := launch(t, l, spoke.Spec{App: workshop(), HTTP: &outside})
		for _, url := range []string{"https://evil.example/", "http://169.254.169.254/", "https://u@" + Host + "/", "https://" + Host + ":22/",
			"file:///etc/passwd", "https://" + Host + "@evil.example/", "https://x." + Host + "/", ""} {
			d.call("note.fetch", url)
			d.ended(isc.StatusRefused)
		}
		require.Empty(t, outside.all())
	}},
	{"P3 a spoke that was given no hosts reaches none", func(t *testing.T, l spoke.Launcher) {
		d := launch(t, l, spoke.Spec{App: workshop()})
		d.call("note.fetch", "https://"+Host+"/")
		d.ended(isc.StatusRefused)
	}},
	{"B10 why a request was refused or failed is not told", func(t *testing.T, l spoke.Launcher) {
		d := launch(t, l, spoke.Spec{App: workshop(), HTTP: &fetcher{err: errors.New(Secret)}})
		d.call("note.fetch", "https://"+Host+"/")
		d.ended(isc.StatusFailed)
		d.call("note.fetch.error", "https://"+Host+"/")
		require.JSONEq(t, `{"text":"spoke: fetch failed"}`, d.done())
		d = launch(t, l, spoke.Spec{App: workshop(), HTTP: &fetcher{err: errors.Join(errors.New(Secret), spoke.ErrRefused)}})
		d.call("note.fetch.error", "https://"+Host+"/")
		require.JSONEq(t, `{"text":"spoke: refused"}`, d.done())
	}},
	{"requests are calls of the task", func(t *testing.T, l spoke.Launcher) {
		var outside fetcher
		d := launch(t, l, spoke.Spec{App: workshop(), HTTP: &outside, Limits: spoke.Limits{MaxCalls: 3}})
		d.call("note.fetch.flood", "https://"+Host+"/")
		d.ended(isc.StatusBudget)
		require.Len(t, outside.all(), 3)
		d.call("note.fetch", "https://"+Host+"/")
		require.JSONEq(t, `{"text":"200 POST https://notes.example.com/ body"}`, d.done())
	}},
}

// fetcher answers with what it was asked for, or fails.
type fetcher struct {
	err error

	mu   sync.Mutex
	seen []spoke.HTTPRequest
}

func (f *fetcher) Fetch(_ context.Context, r spoke.HTTPRequest) (spoke.HTTPResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen = append(f.seen, r)
	return spoke.HTTPResponse{Status: 200, Body: []byte(r.Method + " " + r.URL + " " + string(r.Body))}, f.err
}

func (f *fetcher) all() []spoke.HTTPRequest {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seen
}
