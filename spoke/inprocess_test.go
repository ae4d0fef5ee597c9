package spoke_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/llm/llmtest"
	"github.com/isolategpt/isolategpt/spoke"
)

// E6: a handler that ignores its context cannot be ended, and Close says so
// instead of waiting for ever.
func TestE6CloseIsBoundedWhenAHandlerIgnoresItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		app, err := spoke.New(isc.Manifest{ID: "deaf", Name: "Deaf"},
			spoke.Func("do", func(context.Context, none) (none, error) { <-release; return none{}, nil }))
		require.NoError(t, err)
		i, err := spoke.InProcess().Launch(t.Context(), spoke.Spec{App: app})
		require.NoError(t, err)
		require.NoError(t, i.Conn.Send(t.Context(), isc.Task{Kind: isc.TaskCall, Functionality: "do", Body: json.RawMessage(`{}`)}))
		synctest.Wait()
		began := time.Now()
		require.ErrorIs(t, i.Conn.Close(), spoke.ErrStuck)
		require.Equal(t, 5*time.Second, time.Since(began))
		close(release)
		synctest.Wait()
		require.NoError(t, i.Conn.Close(), "it has ended since")
	})
}

// A goroutine that a handler left behind cannot speak for what comes after.
func TestTheHubIsGoneAfterTheHandler(t *testing.T) {
	var kept spoke.Hub
	app, err := spoke.New(isc.Manifest{ID: "test", Name: "Test"},
		spoke.FuncWith("do", func(_ context.Context, h spoke.Hub, _ none) (none, error) { kept = h; return none{}, nil }))
	require.NoError(t, err)
	i, err := spoke.InProcess().Launch(t.Context(), spoke.Spec{App: app})
	require.NoError(t, err)
	defer func() { _ = i.Conn.Close() }()
	require.NoError(t, i.Conn.Send(t.Context(), isc.Task{Kind: isc.TaskCall, Functionality: "do", Body: json.RawMessage(`{}`)}))
	_, err = i.Conn.Recv(t.Context())
	require.NoError(t, err)
	_, err = kept.Use(t.Context(), "other", json.RawMessage(`{}`))
	require.ErrorIs(t, err, spoke.ErrEnded)
	_, err = kept.Need(t.Context(), isc.DataField{Name: "x"})
	require.ErrorIs(t, err, spoke.ErrEnded)
	require.ErrorIs(t, kept.Confirm(t.Context(), "do", json.RawMessage(`{}`)), spoke.ErrEnded)
	require.ErrorIs(t, kept.Progress(t.Context(), "x"), spoke.ErrEnded)
}

// Nor can it within the task, while the agent goes on.
func TestTheHubIsGoneAfterTheHandlerOfAnAgent(t *testing.T) {
	var kept spoke.Hub
	var got error
	app, err := spoke.New(isc.Manifest{ID: "test", Name: "Test"},
		spoke.FuncWith("keep", func(_ context.Context, h spoke.Hub, _ none) (none, error) { kept = h; return none{}, nil }, spoke.Reads()),
		spoke.FuncWith("try", func(ctx context.Context, _ spoke.Hub, _ none) (none, error) {
			_, got = kept.Use(ctx, "other", json.RawMessage(`{}`))
			return none{}, nil
		}, spoke.Reads()))
	require.NoError(t, err)
	m := llmtest.NewScript(t, llmtest.Use("keep", `{}`), llmtest.Use("try", `{}`), llmtest.Use("finish", `{"answer":true}`))
	i, err := spoke.InProcess().Launch(t.Context(), spoke.Spec{App: app, LLM: m})
	require.NoError(t, err)
	defer func() { _ = i.Conn.Close() }()
	require.NoError(t, i.Conn.Send(t.Context(), isc.Task{Kind: isc.TaskDelegate, Text: "x", Answer: json.RawMessage(`{"type":"boolean"}`)}))
	_, err = i.Conn.Recv(t.Context())
	require.NoError(t, err)
	require.ErrorIs(t, got, spoke.ErrEnded)
}

func TestAnAnswerThatNoMessageHoldsIsAFailure(t *testing.T) {
	app, err := spoke.New(isc.Manifest{ID: "test", Name: "Test"},
		spoke.Func("do", func(context.Context, none) ([]string, error) {
			out := make([]string, 16)
			for i := range out {
				out[i] = strings.Repeat("x", isc.MaxFrame/16-4)
			}
			return out, nil
		}))
	require.NoError(t, err)
	raw, err := app.Handle(t.Context(), spoke.Call{Functionality: "do", Body: json.RawMessage(`{}`)})
	require.NoError(t, err)
	f, _ := app.Manifest().Find("do")
	_, err = f.Response.Check(raw)
	require.NoError(t, err)
	i, err := spoke.InProcess().Launch(t.Context(), spoke.Spec{App: app})
	require.NoError(t, err)
	defer func() { _ = i.Conn.Close() }()
	require.NoError(t, i.Conn.Send(t.Context(), isc.Task{Kind: isc.TaskCall, Functionality: "do", Body: json.RawMessage(`{}`)}))
	m, err := i.Conn.Recv(t.Context())
	require.NoError(t, err)
	require.Equal(t, isc.Result{Status: isc.StatusFailed}, m)
}

// What the protocol has no form for is the app's mistake, not the spoke's end.
func TestAnAppsBadMessageLeavesTheSpokeUsable(t *testing.T) {
	app, err := spoke.New(isc.Manifest{ID: "test", Name: "Test"},
		spoke.FuncWith("do", func(ctx context.Context, h spoke.Hub, _ none) (string, error) {
			_, err := h.Use(ctx, "No Name", json.RawMessage(`{}`))
			require.ErrorIs(t, err, isc.ErrMalformed)
			_, err = h.Need(ctx, isc.DataField{Name: "\x00"})
			require.ErrorIs(t, err, isc.ErrMalformed)
			require.NoError(t, h.Progress(ctx, "\xff"+strings.Repeat("é", 1<<16)))
			return strings.Repeat("x", isc.MaxFrame), nil
		}))
	require.NoError(t, err)
	i, err := spoke.InProcess().Launch(t.Context(), spoke.Spec{App: app})
	require.NoError(t, err)
	defer func() { _ = i.Conn.Close() }()
	for range 2 {
		require.NoError(t, i.Conn.Send(t.Context(), isc.Task{Kind: isc.TaskCall, Functionality: "do", Body: json.RawMessage(`{}`)}))
		m, err := i.Conn.Recv(t.Context())
		require.NoError(t, err)
		require.IsType(t, isc.Progress{}, m)
		m, err = i.Conn.Recv(t.Context())
		require.NoError(t, err)
		require.Equal(t, isc.Result{Status: isc.StatusFailed}, m, "more than a message holds")
	}
}

func TestAnAppThatPanicsWhenAskedForItsManifestIsNotLaunched(t *testing.T) {
	for _, l := range []spoke.Launcher{spoke.InProcess(), spoke.Process(spoke.ProcessConfig{})} {
		for _, app := range []spoke.App{rude{}, empty{}} {
			_, err := l.Launch(t.Context(), spoke.Spec{App: app})
			require.ErrorContains(t, err, "spoke: manifest: ")
		}
	}
}

type rude struct{ spoke.App }

func (rude) Manifest() isc.Manifest { panic("no") }

type empty struct{ spoke.App }

func (empty) Manifest() isc.Manifest { return isc.Manifest{} }

func TestProgressIsBounded(t *testing.T) {
	app, err := spoke.New(isc.Manifest{ID: "test", Name: "Test"},
		spoke.FuncWith("do", func(ctx context.Context, h spoke.Hub, _ none) (none, error) {
			for {
				if err := h.Progress(ctx, "more"); err != nil {
					return none{}, err
				}
			}
		}))
	require.NoError(t, err)
	i, err := spoke.InProcess().Launch(t.Context(), spoke.Spec{App: app})
	require.NoError(t, err)
	defer func() { _ = i.Conn.Close() }()
	require.NoError(t, i.Conn.Send(t.Context(), isc.Task{Kind: isc.TaskCall, Functionality: "do", Body: json.RawMessage(`{}`)}))
	for lines := 0; ; lines++ {
		m, err := i.Conn.Recv(t.Context())
		require.NoError(t, err)
		if r, ok := m.(isc.Result); ok {
			require.Equal(t, isc.StatusBudget, r.Status)
			require.Equal(t, 256, lines)
			return
		}
	}
}
