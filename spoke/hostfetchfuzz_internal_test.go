package spoke

import (
	"bytes"
	"context"
	"encoding/json"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/isc"
)

// Whatever a spoke asks for, what is passed on is one plain request to a host of
// the manifest, and asking for that gives that.
func FuzzFetchRequest(f *testing.F) {
	f.Add("GET", "https://example.org/a?b#c", "Accept", "x", []byte("body"))
	f.Add("CONNECT", "https://example.org@evil.net:443", "Host", "a\r\nb", []byte(nil))
	f.Add("POST", "http://[::1]:80\\@example.org", "", "", []byte{0})
	f.Fuzz(func(t *testing.T, method, address, name, value string, body []byte) {
		var seen *HTTPRequest
		h := &host{manifest: isc.Manifest{Hosts: []string{"example.org"}}, limits: Limits{}.orDefault(),
			http: FetcherFunc(func(_ context.Context, r HTTPRequest) (HTTPResponse, error) {
				seen = &r
				return HTTPResponse{Status: 200}, nil
			})}
		h.begin(isc.Task{})
		_, err := hostFetcher{h}.Fetch(t.Context(), HTTPRequest{Method: method, URL: address, Header: map[string][]string{name: {value}}, Body: body})
		if err != nil {
			require.Equal(t, ErrRefused, err)
			require.Nil(t, seen)
			return
		}
		call, err := json.Marshal(hostCall{Fetch: &HTTPRequest{Method: method, URL: address, Header: map[string][]string{name: {value}}, Body: body}})
		require.NoError(t, err)
		require.True(t, fits(call), "what is passed on is decoded")
		u, err := url.Parse(seen.URL)
		require.NoError(t, err)
		require.Equal(t, "example.org", u.Host)
		require.Nil(t, u.User)
		require.Empty(t, u.Fragment)
		require.NotContains(t, seen.URL, "\n")
		require.NotContains(t, seen.Header[name][0], "\n")
		again, err := seen.checked([]string{"example.org"})
		require.NoError(t, err)
		require.Equal(t, seen.URL, again.URL)
	})
}

// What a process reads of its host side never panics, and is what writeFrame
// would have written.
func FuzzHostReply(f *testing.F) {
	for _, r := range []hostReply{
		{Fetched: &HTTPResponse{Status: 200, Header: map[string][]string{"X": {"a"}}, Body: []byte("x")}},
		{Error: &wireError{Refused: true}}, {Error: &wireError{}}, {Forgotten: 2},
	} {
		var b bytes.Buffer
		if err := writeFrame(&b, r); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		var r hostReply
		if readFrame(bytes.NewReader(frame), &r) != nil {
			return
		}
		var b bytes.Buffer
		require.NoError(t, writeFrame(&b, r))
		require.True(t, bytes.HasPrefix(frame, b.Bytes()))
	})
}
