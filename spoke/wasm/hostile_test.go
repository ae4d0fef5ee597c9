package wasm_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
	"github.com/isolategpt/isolategpt/spoke/spoketest"
	"github.com/isolategpt/isolategpt/spoke/wasm"
)

// attempt is a call that lets the guest try something.
func attempt(what string) spoke.Call {
	body, _ := json.Marshal(spoketest.Note{Text: "try " + what})
	return spoke.Call{Functionality: "note.echo", Body: body, Hub: refusing{}}
}

// said is what the guest says that came of it.
func said(t *testing.T, raw json.RawMessage, err error) string {
	t.Helper()
	require.NoError(t, err)
	var n spoketest.Note
	require.NoError(t, json.Unmarshal(raw, &n))
	return n.Text
}

// refusing is a hub that gives nothing.
type refusing struct{ spoke.Hub }

func (refusing) Use(context.Context, isc.FunctionalityName, json.RawMessage) (json.RawMessage, error) {
	return nil, spoke.ErrRefused
}

func (refusing) Fetch(context.Context, spoke.HTTPRequest) (spoke.HTTPResponse, error) {
	return spoke.HTTPResponse{}, spoke.ErrRefused
}

// failing is a hub whose hosts do not answer.
type failing struct{ refusing }

func (failing) Fetch(context.Context, spoke.HTTPRequest) (spoke.HTTPResponse, error) {
	return spoke.HTTPResponse{}, spoke.ErrFetch
}

func (refusing) Progress(context.Context, string) error { return spoke.ErrBudget }

// engines are both, with the app that is shared.
var engines = map[string]func() (*wasm.App, error){"compiler": compiled, "interpreter": interpreted}

func TestGuestReachesNothing(t *testing.T) {
	for engine, shared := range engines {
		i, err := launcher.Launch(t.Context(), spoke.Spec{App: loaded(t, shared)})
		require.NoError(t, err)
		for _, what := range []string{"read", "list", "stat", "write", "environ", "dial", "exec", "stdin"} {
			require.Regexp(t, "^error: ", said(t, call(t, i, attempt(what)), nil), "%s, %s", engine, what)
		}
		require.NoError(t, i.Conn.Close())
	}
}

func TestGuestHasClocksAndRandomness(t *testing.T) {
	raw, err := app(t).Handle(t.Context(), attempt("nap"))
	require.Equal(t, "true true", said(t, raw, err))
	raw, err = app(t).Handle(t.Context(), attempt("random"))
	one := said(t, raw, err)
	raw, err = app(t).Handle(t.Context(), attempt("random"))
	require.NotEqual(t, one, said(t, raw, err))
}

// TestGuestEndsAlone holds that whatever a guest does to itself is an error of
// that call, and that the next one works.
func TestGuestEndsAlone(t *testing.T) {
	for what, state := range map[string]string{
		"print":    "exit status 7",
		"allocate": "exit status 2|wasm error: unreachable|wasm: out of time", // Go's runtime has its moods
	} {
		t.Run(what, func(t *testing.T) {
			_, err := app(t).Handle(t.Context(), attempt(what))
			died, ok := errors.AsType[*wasm.EndedError](err)
			require.True(t, ok, "%v", err)
			require.Equal(t, isc.AppID("workshop"), died.App)
			require.Regexp(t, "^("+state+")$", died.State)
			require.LessOrEqual(t, len(died.Output), 16<<10)
			if what == "print" {
				require.Regexp(t, "noise the end$", died.Output)
				require.NotContains(t, err.Error(), "noise")
			}
			raw, err := app(t).Handle(t.Context(), attempt("flood"))
			require.Equal(t, "error: spoke: over budget", said(t, raw, err))
		})
	}
}

func TestGuestIsEndedByItsCaller(t *testing.T) {
	for _, what := range []string{"loop", "sleep", "wait", "deadlock"} {
		a := app(t)
		if what == "loop" || what == "wait" {
			a = loaded(t, interpreted)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		stop := errors.New("stop")
		timer := time.AfterFunc(100*time.Millisecond, func() { cancel(stop) })
		defer timer.Stop()
		_, err := a.Handle(ctx, attempt(what))
		require.ErrorIs(t, err, stop, what)
	}
}

func TestGuestAnswersWithWhatIsNone(t *testing.T) {
	for _, what := range []string{"huge", "cut"} {
		_, err := app(t).Handle(t.Context(), attempt(what))
		require.Error(t, err, what)
		_, died := errors.AsType[*wasm.EndedError](err)
		require.False(t, died, "%s: %v", what, err)
	}
	// What is JSON of a kind is the operator's to check; a frame is strict.
	_, err := app(t).Handle(t.Context(), attempt("doubled"))
	_, died := errors.AsType[*wasm.EndedError](err)
	require.True(t, died, "%v", err)
	raw, err := app(t).Handle(t.Context(), attempt("large"))
	require.Equal(t, "error: guest: more than a frame holds", said(t, raw, err))
}

func TestNothingPassesBetweenCallsOfAnApp(t *testing.T) {
	for range 2 {
		raw, err := app(t).Handle(t.Context(), attempt("keep"))
		require.Empty(t, said(t, raw, err))
	}
}

func TestNothingPassesBetweenSpokes(t *testing.T) {
	for range 2 {
		i, err := launcher.Launch(t.Context(), spoke.Spec{App: app(t)})
		require.NoError(t, err)
		require.Empty(t, said(t, call(t, i, attempt("keep")), nil))
		require.Equal(t, "a secret", said(t, call(t, i, attempt("keep")), nil), "a spoke keeps its instance")
		require.NoError(t, i.Conn.Close())
	}
}

func call(t *testing.T, i *spoke.Instance, c spoke.Call) json.RawMessage {
	t.Helper()
	require.NoError(t, i.Conn.Send(t.Context(), isc.Task{Kind: isc.TaskCall, Functionality: c.Functionality, Body: c.Body}))
	m, err := i.Conn.Recv(t.Context())
	require.NoError(t, err)
	require.Equal(t, isc.StatusDone, m.(isc.Result).Status)
	return m.(isc.Result).Body
}

func TestTheDeathOfAnInstanceEndsItsSpoke(t *testing.T) {
	i, err := launcher.Launch(t.Context(), spoke.Spec{App: app(t)})
	require.NoError(t, err)
	c := attempt("print")
	require.NoError(t, i.Conn.Send(t.Context(), isc.Task{Kind: isc.TaskCall, Functionality: c.Functionality, Body: c.Body}))
	_, err = i.Conn.Recv(t.Context())
	died, ok := errors.AsType[*wasm.EndedError](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, "exit status 7", died.State)
	require.NoError(t, i.Conn.Close())
}

// fetching is a hub that reaches hosts.
type fetching struct {
	refusing
	size int
}

func (f fetching) Fetch(_ context.Context, r spoke.HTTPRequest) (spoke.HTTPResponse, error) {
	return spoke.HTTPResponse{Status: 200, Body: bytes.Repeat(r.Body, f.size/len(r.Body))}, nil
}

func TestGuestFetches(t *testing.T) {
	c := attempt("fetch")
	c.Hub = fetching{size: 6}
	raw, err := app(t).Handle(t.Context(), c)
	require.Equal(t, "upupup", said(t, raw, err))
	c.Hub = fetching{size: 4 << 20} // more than a frame holds
	raw, err = app(t).Handle(t.Context(), c)
	require.Equal(t, "error: wasm: the other side failed", said(t, raw, err))
	c.Hub = failing{}
	raw, err = app(t).Handle(t.Context(), c)
	require.Equal(t, "error: spoke: fetch failed", said(t, raw, err))
	c.Hub = refusing{}
	raw, err = app(t).Handle(t.Context(), c)
	require.Equal(t, "error: spoke: refused", said(t, raw, err))
}
