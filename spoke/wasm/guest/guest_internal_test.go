package guest

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
	"github.com/isolategpt/isolategpt/spoke/spoketest"
	"github.com/isolategpt/isolategpt/spoke/wasm/internal/frame"
)

// script is a host that hears and gives replies in turn.
type script struct {
	heard   []string
	replies []string
}

func (s *script) host(up []byte) []byte {
	s.heard = append(s.heard, string(up))
	if len(s.replies) == 0 {
		return []byte("{}")
	}
	down := s.replies[0]
	s.replies = s.replies[1:]
	return []byte(down)
}

func suite() *spoke.App {
	app := spoketest.Apps()[0]
	return &app
}

func TestDescribe(t *testing.T) {
	s := &script{}
	require.NoError(t, host(s.host).describe(suite()))
	require.Len(t, s.heard, 1)
	m, err := isc.DecodeManifest([]byte(s.heard[0]))
	require.NoError(t, err)
	require.Equal(t, (*suite()).Manifest().Digest(), m.Digest())
	require.ErrorIs(t, host(s.host).describe(nil), errNoApp)
}

func TestHandle(t *testing.T) {
	for _, c := range []struct {
		task    string
		replies []string
		heard   []string
	}{
		{`{"functionality":"note.echo","body":{"text":"x"}}`, nil, []string{`{"done":{"body":{"text":"x"}}}`}},
		{`{"functionality":"note.fail","body":{"text":"x"}}`, nil, []string{`{"done":{"error":"failed"}}`}},
		{`{"functionality":"note.panic","body":{"text":"x"}}`, nil, []string{`{"done":{"error":"failed"}}`}},
		{`{"functionality":"note.hang","body":{"text":"x"},"millis":1}`, nil, []string{`{"done":{"error":"failed"}}`}},
		{`{"functionality":"note.none","body":{"text":"x"}}`, nil, []string{`{"done":{"error":"failed"}}`}},
		{`{"functionality":"note.use","body":{"text":"x"}}`, []string{`{}`, `{"body":{"text":"y"}}`}, []string{
			`{"progress":"asking"}`, `{"use":{"name":"page.find","body":{"text":"x"}}}`, `{"done":{"body":{"text":"y"}}}`,
		}},
		{`{"functionality":"note.use","body":{"text":"x"}}`, []string{`{}`, `{"error":"refused"}`}, []string{
			`{"progress":"asking"}`, `{"use":{"name":"page.find","body":{"text":"x"}}}`, `{"done":{"error":"refused"}}`,
		}},
		{`{"functionality":"note.confirm","body":{"text":"x"}}`, []string{`no reply`}, []string{
			`{"confirm":{"name":"note.pay","body":{"to":"x","amount":5}}}`, `{"done":{"error":"failed"}}`,
		}},
		{`{"functionality":"note.need","body":{"text":"x"}}`, []string{`{}`}, []string{
			`{"need":{"fields":[{"name":"x","purpose":"to write it down"}]}}`, `{"done":{"error":"missing"}}`,
		}},
	} {
		s := &script{replies: c.replies}
		require.NoError(t, host(s.host).handle(suite(), []byte(c.task)))
		require.Equal(t, c.heard, s.heard, c.task)
	}
	s := &script{}
	require.Error(t, host(s.host).handle(suite(), []byte("no task")))
	require.ErrorIs(t, host(s.host).handle(nil, nil), errNoApp)
}

func TestHubOfACall(t *testing.T) {
	s := &script{replies: []string{`{"response":{"status":204}}`, `{}`}}
	h := &hub{host: s.host}
	r, err := h.Fetch(t.Context(), spoke.HTTPRequest{Method: "GET", URL: "https://example.com/"})
	require.NoError(t, err)
	require.Equal(t, 204, r.Status)
	_, err = h.Fetch(t.Context(), spoke.HTTPRequest{})
	require.ErrorIs(t, err, errReply)
	_, err = h.Use(t.Context(), "a.b", make(json.RawMessage, frame.MaxUp))
	require.Error(t, err)
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stop")
	cancel(stop)
	require.ErrorIs(t, h.Progress(ctx, "x"), stop)
	h.ended = true
	require.ErrorIs(t, h.Progress(t.Context(), "x"), spoke.ErrEnded)
	require.Len(t, s.heard, 2)
}

func TestServeOnce(t *testing.T) {
	require.Panics(t, func() { Serve(nil) })
	Serve(*suite())
	require.Panics(t, func() { Serve(*suite()) })
}
