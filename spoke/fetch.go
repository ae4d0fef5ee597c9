package spoke

import "context"

// HTTPRequest is one request to a remote host, as a spoke may make it. What its
// host side does not pass on (credentials, hop-by-hop headers, a host that the
// app's manifest does not name) never leaves the program.
type HTTPRequest struct {
	Method string              `json:"method"`
	URL    string              `json:"url"`
	Header map[string][]string `json:"header,omitempty"`
	Body   []byte              `json:"body,omitempty"`
}

// HTTPResponse is the one answer to it. A redirect is an answer like any other:
// whoever follows it makes a new request.
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
