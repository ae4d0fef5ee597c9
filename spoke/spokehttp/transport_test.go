package spokehttp_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/spoke"
	"github.com/isolategpt/isolategpt/spoke/spokehttp"
)

// hub answers fetches and nothing else.
type hub struct {
	spoke.Hub
	fetch spoke.FetcherFunc
}

func (h hub) Fetch(ctx context.Context, r spoke.HTTPRequest) (spoke.HTTPResponse, error) {
	return h.fetch(ctx, r)
}

func client(f spoke.FetcherFunc) *http.Client {
	return &http.Client{Transport: spokehttp.Transport(hub{fetch: f})}
}

func TestARequestBecomesOneFetch(t *testing.T) {
	var seen []spoke.HTTPRequest
	c := client(func(_ context.Context, r spoke.HTTPRequest) (spoke.HTTPResponse, error) {
		seen = append(seen, r)
		return spoke.HTTPResponse{Status: 201, Header: map[string][]string{"content-type": {"text/x"}, "X": {"a", "b"}}, Body: []byte("made")}, nil
	})
	req, err := http.NewRequestWithContext(t.Context(), "", "https://API.example.com/a%2fb?c=d#part", strings.NewReader("body"))
	require.NoError(t, err)
	req.Method = "" // which is GET
	req.Header.Set("Accept", "text/x")
	res, err := c.Do(req)
	require.NoError(t, err)
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, "made", string(body))
	require.Equal(t, "201 Created", res.Status)
	require.Equal(t, "text/x", res.Header.Get("Content-Type"))
	require.Equal(t, []string{"a", "b"}, res.Header["X"])
	require.EqualValues(t, 4, res.ContentLength)
	require.Equal(t, []spoke.HTTPRequest{{Method: "GET", URL: "https://api.example.com/a%2fb?c=d",
		Header: map[string][]string{"Accept": {"text/x"}}, Body: []byte("body")}}, seen)
}

// What is no printable ASCII is refused outside.
func TestAQueryIsSentInASCII(t *testing.T) {
	var seen spoke.HTTPRequest
	c := client(func(_ context.Context, r spoke.HTTPRequest) (spoke.HTTPResponse, error) {
		seen = r
		return spoke.HTTPResponse{Status: 200}, nil
	})
	res, err := c.Get("https://example.com/ä b?q=ä b&r=%20+")
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, "https://example.com/%C3%A4%20b?q=%C3%A4%20b&r=%20+", seen.URL)
}

func TestEachRedirectIsARequestOfItsOwn(t *testing.T) {
	for _, to := range []string{"http://169.254.169.254/latest/meta-data/", "https://other.example/"} {
		var seen []spoke.HTTPRequest
		c := client(func(_ context.Context, r spoke.HTTPRequest) (spoke.HTTPResponse, error) {
			seen = append(seen, r)
			if r.URL == to {
				return spoke.HTTPResponse{}, spoke.ErrRefused
			}
			return spoke.HTTPResponse{Status: 302, Header: map[string][]string{"Location": {to}}}, nil
		})
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://api.example.com/", nil)
		require.NoError(t, err)
		req.Header.Set("Authorization", "mine")
		err = sent(c.Do(req))
		require.ErrorIs(t, err, spoke.ErrRefused)
		require.Len(t, seen, 2)
		require.Equal(t, to, seen[1].URL)
		require.NotContains(t, seen[1].Header, "Authorization")
	}
}

// sent is the error of a request whose answer is of no interest.
func sent(res *http.Response, err error) error {
	if err == nil {
		err = res.Body.Close()
	}
	return err
}

// endless is a body without an end that says whether it was closed.
type endless struct{ closed bool }

func (*endless) Read(p []byte) (int, error) { return len(p), nil }
func (e *endless) Close() error             { e.closed = true; return nil }

func TestBodiesAreBoundedWhileTheyAreRead(t *testing.T) {
	c := client(func(_ context.Context, r spoke.HTTPRequest) (spoke.HTTPResponse, error) {
		return spoke.HTTPResponse{Status: 200, Body: r.Body}, nil
	})
	body := &endless{}
	err := sent(c.Post("https://api.example.com/", "", body))
	require.ErrorContains(t, err, "524288 bytes")
	require.True(t, body.closed)
	res, err := c.Post("https://api.example.com/", "", bytes.NewReader(make([]byte, 512<<10)))
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	broken := errors.New("broken")
	err = sent(c.Post("https://api.example.com/", "", io.MultiReader(strings.NewReader("x"), failing{broken})))
	require.ErrorIs(t, err, broken)
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestErrorsOfTheHubAreKept(t *testing.T) {
	for _, want := range []error{spoke.ErrRefused, spoke.ErrBudget, spoke.ErrEnded, context.Canceled} {
		err := sent(client(func(context.Context, spoke.HTTPRequest) (spoke.HTTPResponse, error) {
			return spoke.HTTPResponse{}, want
		}).Get("https://api.example.com/"))
		require.ErrorIs(t, err, want)
	}
}
