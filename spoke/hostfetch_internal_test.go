package spoke

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/isc"
)

// fetchHost is the host side of an app with two hosts, in a task.
func fetchHost(t *testing.T, f Fetcher) *host {
	t.Helper()
	app, err := New(isc.Manifest{ID: "test", Name: "Test", Hosts: []string{"api.example.com", "example.org"}})
	require.NoError(t, err)
	h, err := newHost(Spec{App: app, HTTP: f, Limits: Limits{MaxCalls: 3}})
	require.NoError(t, err)
	h.begin(isc.Task{})
	return h
}

// echoing answers with the URL that it was asked for.
var echoing = FetcherFunc(func(_ context.Context, r HTTPRequest) (HTTPResponse, error) {
	return HTTPResponse{Status: 200, Body: []byte(r.URL)}, nil
})

func TestOnlyPlainRequestsToHostsOfTheManifestPass(t *testing.T) {
	for name, c := range map[string]struct{ url, want string }{
		"https":        {"https://api.example.com/a?b=c", "https://api.example.com/a?b=c"},
		"http":         {"http://example.org", "http://example.org"},
		"own port":     {"https://example.org:443/", "https://example.org/"},
		"own port too": {"http://example.org:80/", "http://example.org/"},
		"escaped":      {"https://example.org/a%2fb%23", "https://example.org/a%2fb%23"},
		"scheme":       {"HTTPS://example.org/", "https://example.org/"},

		"other host":           {"https://example.net/", ""},
		"subdomain":            {"https://x.example.org/", ""},
		"parent":               {"https://example.com/", ""},
		"longer":               {"https://example.org.evil.net/", ""},
		"upper case":           {"https://Example.org/", ""},
		"look-alike":           {"https://еxample.org/", ""},
		"final dot":            {"https://example.org./", ""},
		"other port":           {"https://example.org:8443/", ""},
		"port of http":         {"https://example.org:80/", ""},
		"port twice":           {"https://example.org:443:443/", ""},
		"no port":              {"https://example.org:/", ""},
		"user":                 {"https://user@example.org/", ""},
		"user and password":    {"https://a:b@example.org/", ""},
		"host as user":         {"https://example.org@evil.net/", ""},
		"host as user, back":   {`https://evil.net\@example.org/`, ""},
		"host after backslash": {`https:\\example.org/`, ""},
		"fragment":             {"https://example.org/#x", ""},
		"host in fragment":     {"https://evil.net#@example.org/", ""},
		"address":              {"http://169.254.169.254/", ""},
		"address of IPv6":      {"http://[::1]/", ""},
		"zone":                 {"http://[fe80::1%25eth0]/", ""},
		"decimal address":      {"http://2130706433/", ""},
		"no scheme":            {"//example.org/", ""},
		"no host":              {"https:///example.org", ""},
		"opaque":               {"https:example.org", ""},
		"relative":             {"/path", ""},
		"file":                 {"file:///etc/passwd", ""},
		"file on a host":       {"file://example.org/etc/passwd", ""},
		"websocket":            {"wss://example.org/", ""},
		"gopher":               {"gopher://example.org/", ""},
		"line break":           {"https://example.org/\r\nHost: evil.net", ""},
		"space before":         {" https://example.org/", ""},
		"zero byte":            {"https://example.org/\x00", ""},
		"no UTF-8":             {"https://example.org/\xff", ""},
		"space in query":       {"http://example.org/?x HTTP/1.0", ""},
		"tab in query":         {"https://example.org/?a\tb", ""},
		"turns text around":    {"https://example.org/?\u202e", ""},
		"line separator":       {"https://example.org/?\u2028", ""},
		"no-break space":       {"https://example.org/?\u00a0", ""},
		"delete":               {"https://example.org/?\x7f", ""},
		"umlaut in path":       {"https://example.org/\u00e4", ""},
		"escaped umlaut":       {"https://example.org/%C3%A4?%20", "https://example.org/%C3%A4?%20"},
		"escaped host":         {"https://example%2eorg/", ""},
		"long":                 {"https://example.org/" + strings.Repeat("x", maxURLBytes), ""},
		"empty":                {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := fetchHost(t, echoing)
			got, err := hostFetcher{h}.Fetch(t.Context(), HTTPRequest{Method: "GET", URL: c.url})
			if c.want == "" {
				require.Equal(t, ErrRefused, err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, string(got.Body))
		})
	}
}

func TestRequestsAreBoundedAndCannotSmuggle(t *testing.T) {
	many := map[string][]string{"X": make([]string, maxHeaderFields+1)}
	for name, r := range map[string]HTTPRequest{
		"no method":       {},
		"connect":         {Method: "CONNECT"},
		"trace":           {Method: "TRACE"},
		"lower case":      {Method: "trace"},
		"method line":     {Method: "GET / HTTP/1.1\r\nX: y\r\n\r\nPOST"},
		"method space":    {Method: "GET "},
		"long method":     {Method: strings.Repeat("A", 33)},
		"CRLF in value":   {Method: "GET", Header: map[string][]string{"X": {"a\r\nHost: evil.net"}}},
		"LF in value":     {Method: "GET", Header: map[string][]string{"X": {"a\nb"}}},
		"CR in value":     {Method: "GET", Header: map[string][]string{"X": {"a\rb"}}},
		"NUL in value":    {Method: "GET", Header: map[string][]string{"X": {"a\x00b"}}},
		"CRLF in name":    {Method: "GET", Header: map[string][]string{"X\r\nY": {"a"}}},
		"colon in name":   {Method: "GET", Header: map[string][]string{"X: y": {"a"}}},
		"space in name":   {Method: "GET", Header: map[string][]string{"Host ": {"a"}}},
		"empty name":      {Method: "GET", Header: map[string][]string{"": {"a"}}},
		"no UTF-8":        {Method: "GET", Header: map[string][]string{"X": {"\xff"}}},
		"many fields":     {Method: "GET", Header: many},
		"long header":     {Method: "GET", Header: map[string][]string{"X": {strings.Repeat("x", maxRequestHeaderBytes)}}},
		"body of GET":     {Method: "GET", Body: []byte("x")},
		"body of HEAD":    {Method: "HEAD", Body: []byte("x")},
		"long body":       {Method: "PUT", Body: make([]byte, MaxRequestBody+1)},
		"long name alone": {Method: "GET", Header: map[string][]string{strings.Repeat("x", maxRequestHeaderBytes): {""}}},
	} {
		t.Run(name, func(t *testing.T) {
			h := fetchHost(t, echoing)
			r.URL = "https://example.org/"
			_, err := hostFetcher{h}.Fetch(t.Context(), r)
			require.Equal(t, ErrRefused, err)
		})
	}
	h := fetchHost(t, echoing)
	_, err := hostFetcher{h}.Fetch(t.Context(), HTTPRequest{Method: "PUT", URL: "https://example.org/", Body: make([]byte, MaxRequestBody)})
	require.NoError(t, err)
}

func TestAnswersAreBounded(t *testing.T) {
	for name, c := range map[string]struct {
		response HTTPResponse
		ok       bool
	}{
		"full":        {HTTPResponse{Status: 200, Body: make([]byte, MaxResponseBody)}, true},
		"no content":  {HTTPResponse{Status: 204}, true},
		"redirect":    {HTTPResponse{Status: 302, Header: map[string][]string{"Location": {"http://169.254.169.254/"}}}, true},
		"long body":   {HTTPResponse{Status: 200, Body: make([]byte, MaxResponseBody+1)}, false},
		"long header": {HTTPResponse{Status: 200, Header: map[string][]string{"X": {strings.Repeat("x", maxResponseHeaderBytes)}}}, false},
		"many fields": {HTTPResponse{Status: 200, Header: map[string][]string{"X": make([]string, maxResponseFields+1)}}, false},
		"bad header":  {HTTPResponse{Status: 200, Header: map[string][]string{"X": {"a\r\nb"}}}, false},
		"no status":   {HTTPResponse{}, false},
		"not final":   {HTTPResponse{Status: 101}, false},
	} {
		t.Run(name, func(t *testing.T) {
			h := fetchHost(t, FetcherFunc(func(context.Context, HTTPRequest) (HTTPResponse, error) { return c.response, nil }))
			got, err := hostFetcher{h}.Fetch(t.Context(), HTTPRequest{Method: "GET", URL: "https://example.org/"})
			if !c.ok {
				require.Equal(t, ErrFetch, err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.response.Status, got.Status)
		})
	}
	h := fetchHost(t, FetcherFunc(func(context.Context, HTTPRequest) (HTTPResponse, error) {
		return HTTPResponse{Status: 200, Header: map[string][]string{"X": {"caf\xe9"}}}, nil
	}))
	got, err := hostFetcher{h}.Fetch(t.Context(), HTTPRequest{Method: "GET", URL: "https://example.org/"})
	require.NoError(t, err)
	require.Equal(t, "caf\uFFFD", got.Header["X"][0], "as the channel would make it")
}

// P1: a spoke reaches hosts only within a task and its bounds.
func TestP1HostsAreReachedOnlyWithinATask(t *testing.T) {
	h := fetchHost(t, echoing)
	fetch := func() error {
		_, err := hostFetcher{h}.Fetch(t.Context(), HTTPRequest{Method: "GET", URL: "https://example.org/"})
		return err
	}
	for range 3 {
		require.NoError(t, fetch())
	}
	require.Equal(t, ErrRefused, fetch(), "the task's calls are used up")
	h.begin(isc.Task{MaxCalls: 1})
	require.NoError(t, fetch())
	require.Equal(t, ErrRefused, fetch(), "a task lowers the bound")
	h.begin(isc.Task{})
	h.finish()
	require.Equal(t, ErrRefused, fetch(), "no task runs")
	h = fetchHost(t, nil)
	require.Equal(t, ErrRefused, fetch(), "the program gives no hosts")
}

// B10: what a spoke learns of a failure is one of two words.
func TestB10AFailedFetchTellsNothing(t *testing.T) {
	secret := errors.New("dial tcp 10.0.0.1:443: key sk-123")
	for name, c := range map[string]struct {
		fetch FetcherFunc
		want  error
	}{
		"failed": {func(context.Context, HTTPRequest) (HTTPResponse, error) { return HTTPResponse{Status: 200}, secret }, ErrFetch},
		"panic":  {func(context.Context, HTTPRequest) (HTTPResponse, error) { panic(secret) }, ErrFetch},
		"refused": {func(context.Context, HTTPRequest) (HTTPResponse, error) {
			return HTTPResponse{}, errors.Join(secret, ErrRefused)
		}, ErrRefused},
	} {
		t.Run(name, func(t *testing.T) {
			h := fetchHost(t, c.fetch)
			got, err := hostFetcher{h}.Fetch(t.Context(), HTTPRequest{Method: "GET", URL: "https://example.org/"})
			require.Equal(t, c.want, err)
			require.Zero(t, got)
			h.begin(isc.Task{})
			client := channel(t, h)
			_, err = client.Fetch(t.Context(), HTTPRequest{Method: "GET", URL: "https://example.org/"})
			require.Equal(t, c.want, err)
		})
	}
}

// channel connects a process's client with a host side.
func channel(t *testing.T, h *host) *hostClient {
	t.Helper()
	ours, theirs := net.Pipe()
	served := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer close(served)
		_ = h.serveChannel(ctx, ours)
		_ = ours.Close()
	}()
	client := newHostClient(theirs, func(error) {})
	t.Cleanup(func() {
		cancel()
		client.close()
		<-served
	})
	return client
}

func TestAFetchCrossesTheChannelUnchanged(t *testing.T) {
	var seen HTTPRequest
	answer := HTTPResponse{Status: 404, Header: map[string][]string{"X": {"<a>", "b\u2028"}}, Body: []byte("\x00\xff")}
	h := fetchHost(t, FetcherFunc(func(_ context.Context, r HTTPRequest) (HTTPResponse, error) { seen = r; return answer, nil }))
	request := HTTPRequest{Method: "POST", URL: "https://example.org/?a=<b>&c", Header: map[string][]string{"Accept": {"a", "b"}}, Body: []byte{0, 255, 10}}
	got, err := channel(t, h).Fetch(t.Context(), request)
	require.NoError(t, err)
	require.Equal(t, answer, got)
	require.Equal(t, request, seen)
}

func TestAFetchThatNoFrameHoldsIsRefused(t *testing.T) {
	client := channel(t, fetchHost(t, echoing))
	for _, r := range []HTTPRequest{
		{Method: "PUT", URL: "https://example.org/", Body: make([]byte, maxHostFrame)},
		{Method: "GET", URL: "https://example.org/", Header: map[string][]string{"X": {"\xff"}}},
		{Method: "GET", URL: "https://example.org/", Header: map[string][]string{"X": nil, "Y\n": {}}},
	} {
		_, err := client.Fetch(t.Context(), r)
		require.Equal(t, ErrRefused, err)
	}
	_, err := client.Fetch(t.Context(), HTTPRequest{Method: "GET", URL: "https://example.org/"})
	require.NoError(t, err, "the channel is as it was")
}

// A handler's own timeout ends its wait and not the channel; the late answer is
// nobody's.
func TestAFetchThatWasLeftIsNotTheNextOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		client := channel(t, fetchHost(t, FetcherFunc(func(ctx context.Context, r HTTPRequest) (HTTPResponse, error) {
			if strings.HasSuffix(r.URL, "/slow") {
				<-release
			}
			return echoing(ctx, r)
		})))
		ctx, cancel := context.WithCancelCause(t.Context())
		impatient := errors.New("impatient")
		go func() { synctest.Wait(); cancel(impatient) }()
		_, err := client.Fetch(ctx, HTTPRequest{Method: "GET", URL: "https://example.org/slow"})
		require.Equal(t, impatient, err)
		_, err = client.Fetch(ctx, HTTPRequest{Method: "GET", URL: "https://example.org/2"})
		require.Equal(t, impatient, err, "it waits no longer for what was left")
		close(release)
		got, err := client.Fetch(t.Context(), HTTPRequest{Method: "GET", URL: "https://example.org/3"})
		require.NoError(t, err)
		require.Equal(t, "https://example.org/3", string(got.Body))
	})
}

// A task's end ends its request, whose answer is no other task's.
func TestTheEndOfATaskEndsItsFetch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := make(chan error, 1)
		h := fetchHost(t, FetcherFunc(func(ctx context.Context, _ HTTPRequest) (HTTPResponse, error) {
			<-ctx.Done()
			begun <- context.Cause(ctx)
			return HTTPResponse{Status: 200}, nil
		}))
		ended := make(chan error, 1)
		go func() {
			_, err := hostFetcher{h}.Fetch(t.Context(), HTTPRequest{Method: "GET", URL: "https://example.org/"})
			ended <- err
		}()
		synctest.Wait()
		_, err := hostFetcher{h}.Fetch(t.Context(), HTTPRequest{Method: "GET", URL: "https://example.org/"})
		require.Equal(t, ErrRefused, err, "one at a time")
		h.finish()
		h.begin(isc.Task{})
		require.Equal(t, errNoTask, <-begun)
		require.Equal(t, ErrFetch, <-ended)
	})
}

// P9: frames about hosts end the channel if they are not exactly ours.
func TestP9MalformedFetchFramesEndTheChannel(t *testing.T) {
	for name, frame := range map[string]string{
		"unknown key":  `{"fetch":{"method":"GET","url":"https://example.org/","proxy":"x"}}`,
		"no method":    `{"fetch":{"url":"https://example.org/"}}`,
		"empty header": `{"fetch":{"method":"GET","url":"https://example.org/","header":{}}}`,
		"key twice":    `{"fetch":{"method":"GET","url":"https://example.org/","url":"https://evil.net/"}}`,
		"bad base64":   `{"fetch":{"method":"GET","url":"https://example.org/","body":"AA=\n="}}`,
		"not exact":    `{"fetch":{"method":"GET","url":"https://example.org/?<"}}`,
		"two calls":    `{"forget":{},"fetch":{"method":"GET","url":"https://example.org/"}}`,
		"null":         `{"fetch":null}`,
	} {
		t.Run(name, func(t *testing.T) {
			h := fetchHost(t, FetcherFunc(func(context.Context, HTTPRequest) (HTTPResponse, error) {
				t.Error("it was performed")
				return HTTPResponse{}, nil
			}))
			head := string([]byte{0, 0, 0, byte(len(frame))})
			require.ErrorIs(t, h.serveChannel(t.Context(), nowhere{strings.NewReader(head + frame)}), errFrame)
		})
	}
}

// nowhere reads and does not write.
type nowhere struct{ io.Reader }

func (nowhere) Write(p []byte) (int, error) { return len(p), nil }
