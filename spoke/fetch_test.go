package spoke_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/llm/llmtest"
	"github.com/isolategpt/isolategpt/spoke"
)

var page = spoke.HTTPRequest{Method: "GET", URL: "https://example.org/"}

// fetching is the status of one call of a handler whose app may reach
// example.org, outside of which answer stands.
func fetching(t *testing.T, answer spoke.Fetcher, handler func(context.Context, spoke.Hub) error) isc.Status {
	t.Helper()
	app, err := spoke.New(isc.Manifest{ID: "test", Name: "Test", Hosts: []string{"example.org"}},
		spoke.FuncWith("do", func(ctx context.Context, h spoke.Hub, _ none) (none, error) { return none{}, handler(ctx, h) }))
	require.NoError(t, err)
	i, err := spoke.InProcess().Launch(t.Context(), spoke.Spec{App: app, HTTP: answer, Limits: spoke.Limits{MaxCalls: 2}})
	require.NoError(t, err)
	defer func() { require.NoError(t, i.Conn.Close()) }()
	require.NoError(t, i.Conn.Send(t.Context(), isc.Task{Kind: isc.TaskCall, Functionality: "do", Body: json.RawMessage(`{}`)}))
	m, err := i.Conn.Recv(t.Context())
	require.NoError(t, err)
	return m.(isc.Result).Status
}

func TestAFetchIsOneCallOfTheTask(t *testing.T) {
	asked := 0
	answer := spoke.FetcherFunc(func(context.Context, spoke.HTTPRequest) (spoke.HTTPResponse, error) {
		asked++
		return spoke.HTTPResponse{Status: 200}, nil
	})
	status := fetching(t, answer, func(ctx context.Context, h spoke.Hub) error {
		for {
			if _, err := h.Fetch(ctx, page); err != nil {
				return err
			}
		}
	})
	require.Equal(t, isc.StatusBudget, status)
	require.Equal(t, 2, asked)
}

func TestNoFetchAfterTheHandler(t *testing.T) {
	var kept spoke.Hub
	answer := spoke.FetcherFunc(func(context.Context, spoke.HTTPRequest) (spoke.HTTPResponse, error) {
		t.Error("it was asked")
		return spoke.HTTPResponse{}, nil
	})
	status := fetching(t, answer, func(_ context.Context, h spoke.Hub) error { kept = h; return nil })
	require.Equal(t, isc.StatusDone, status)
	_, err := kept.Fetch(t.Context(), page)
	require.ErrorIs(t, err, spoke.ErrEnded)
}

// Nor within the task, while the agent goes on.
func TestNoFetchAfterTheHandlerOfAnAgent(t *testing.T) {
	var kept spoke.Hub
	var got error
	app, err := spoke.New(isc.Manifest{ID: "test", Name: "Test", Hosts: []string{"example.org"}},
		spoke.FuncWith("keep", func(_ context.Context, h spoke.Hub, _ none) (none, error) { kept = h; return none{}, nil }, spoke.Reads()),
		spoke.FuncWith("try", func(ctx context.Context, _ spoke.Hub, _ none) (none, error) {
			_, got = kept.Fetch(ctx, page)
			return none{}, nil
		}, spoke.Reads()))
	require.NoError(t, err)
	m := llmtest.NewScript(t, llmtest.Use("keep", `{}`), llmtest.Use("try", `{}`), llmtest.Use("finish", `{"answer":true}`))
	i, err := spoke.InProcess().Launch(t.Context(), spoke.Spec{App: app, LLM: m})
	require.NoError(t, err)
	defer func() { require.NoError(t, i.Conn.Close()) }()
	require.NoError(t, i.Conn.Send(t.Context(), isc.Task{Kind: isc.TaskDelegate, Text: "x", Answer: json.RawMessage(`{"type":"boolean"}`)}))
	_, err = i.Conn.Recv(t.Context())
	require.NoError(t, err)
	require.ErrorIs(t, got, spoke.ErrEnded)
}

func TestASpokeWithoutAHostSideReachesNoHost(t *testing.T) {
	app, err := spoke.New(isc.Manifest{ID: "test", Name: "Test", Hosts: []string{"example.org"}},
		spoke.FuncWith("do", func(ctx context.Context, h spoke.Hub, _ none) (none, error) {
			_, err := h.Fetch(ctx, page)
			return none{}, err
		}))
	require.NoError(t, err)
	hub, end := isc.Pipe()
	served := make(chan error, 1)
	go func() { served <- spoke.Serve(context.Background(), end, spoke.Spec{App: app}) }()
	require.NoError(t, hub.Send(t.Context(), isc.Task{Kind: isc.TaskCall, Functionality: "do", Body: json.RawMessage(`{}`)}))
	m, err := hub.Recv(t.Context())
	require.NoError(t, err)
	require.Equal(t, isc.Result{Status: isc.StatusRefused}, m)
	require.NoError(t, hub.Close())
	require.NoError(t, <-served)
}

// A handler cannot change a request after it was checked, nor an answer that is
// somebody else's.
func TestWhatWasCheckedIsWhatIsFetched(t *testing.T) {
	mine := spoke.HTTPRequest{Method: "POST", URL: page.URL, Header: map[string][]string{"X": {"a"}}, Body: []byte("a")}
	shared := spoke.HTTPResponse{Status: 200, Header: map[string][]string{"X": {"a"}}, Body: []byte("a")}
	answer := spoke.FetcherFunc(func(_ context.Context, r spoke.HTTPRequest) (spoke.HTTPResponse, error) {
		mine.Header["X"][0], mine.Body[0] = "b", 'b'
		require.Equal(t, "a", r.Header["X"][0])
		require.Equal(t, "a", string(r.Body))
		return shared, nil
	})
	status := fetching(t, answer, func(ctx context.Context, h spoke.Hub) error {
		got, err := h.Fetch(ctx, mine)
		got.Header["X"][0], got.Body[0] = "b", 'b'
		return err
	})
	require.Equal(t, isc.StatusDone, status)
	require.Equal(t, "a", shared.Header["X"][0])
	require.Equal(t, "a", string(shared.Body))
}
