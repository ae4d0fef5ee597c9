package spoke

import "context"

// The most that a body has, of a request to a remote host and of its answer, in
// bytes.
const (
	MaxRequestBody  = 512 << 10
	MaxResponseBody = 1 << 20
)

// HTTPRequest is one request to a remote host, as a spoke may make it. What its
// host side does not pass on (credentials, hop-by-hop headers, a host that the
// app's manifest does not name) never leaves the program.
//
// The URL is printable ASCII without spaces, at most 8 KiB. The header has at
// most 64 values and 16 KiB, the body at most [MaxRequestBody]; GET and HEAD have
// none. Whatever is more is [ErrRefused].
type HTTPRequest struct {
	Method string              `json:"method"`
	URL    string              `json:"url"`
	Header map[string][]string `json:"header,omitempty"`
	Body   []byte              `json:"body,omitempty"`
}

// HTTPResponse is the one answer to it. A redirect is an answer like any other:
// whoever follows it makes a new request. The header has at most 256 values and
// 32 KiB, the body at most [MaxResponseBody]; what has more is [ErrFetch].
type HTTPResponse struct {
	Status int                 `json:"status"`
	Header map[string][]string `json:"header,omitempty"`
	Body   []byte              `json:"body,omitempty"`
}

// Fetcher performs requests of spokes, outside of them.
type Fetcher interface {
	// Fetch gives [ErrRefused] for every request that may not be, whatever the
	// reason. The context ends it.
	Fetch(ctx context.Context, r HTTPRequest) (HTTPResponse, error)
}

// FetcherFunc makes a [Fetcher] of a function.
type FetcherFunc func(ctx context.Context, r HTTPRequest) (HTTPResponse, error)

// Fetch calls f.
func (f FetcherFunc) Fetch(ctx context.Context, r HTTPRequest) (HTTPResponse, error) {
	return f(ctx, r)
}

// Authorizer is a [Fetcher] that can also ask about a host without seeing what is
// sent to it, for programs that have an HTTP client of their own.
type Authorizer interface {
	// Authorize gives [ErrRefused], or another error, for a host that may not be
	// reached now: a name in lower-case ASCII, or "http://" and a name without TLS.
	// Nil is for one connection. The context ends it.
	Authorize(ctx context.Context, host string) error
}
