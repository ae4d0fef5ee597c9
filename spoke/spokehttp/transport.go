// Package spokehttp lets handlers reach remote hosts with an ordinary
// http.Client, through the [spoke.Hub] of their call.
//
// It guarantees nothing by itself, since it runs inside the spoke: which hosts
// are reached, and what is sent, is decided outside. Each redirect that the
// http.Client follows is a new request, judged like the first.
//
//	client := &http.Client{Transport: spokehttp.Transport(hub)}
//	res, err := client.Get("https://api.example.com/v1/fares")
//
// # Trust
//
// Answers are a remote host's word. They hold no credential of the program, but
// otherwise anything.
//
// # Source
//
// ADR 0011. The paper's apps call their services freely.
package spokehttp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/isolategpt/isolategpt/spoke"
)

var errBody = fmt.Errorf("spokehttp: the body is longer than %d bytes", spoke.MaxRequestBody)

// Transport sends requests through h, one at a time, each as one call of the
// task. Bodies are whole: at most [spoke.MaxRequestBody] out and
// [spoke.MaxResponseBody] in, no streams and no websockets. Whatever may not be is
// [spoke.ErrRefused]. It may be used as long as h.
func Transport(h spoke.Hub) http.RoundTripper { return transport{h} }

type transport struct{ hub spoke.Hub }

func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := readBody(req)
	if err != nil {
		return nil, err
	}
	u := *req.URL
	u.Host, u.Fragment, u.RawFragment = strings.ToLower(u.Host), "", "" // as browsers send it
	u.RawQuery = escaped(u.RawQuery)
	res, err := t.hub.Fetch(req.Context(), spoke.HTTPRequest{Method: method(req), URL: u.String(), Header: req.Header, Body: body})
	if err != nil {
		return nil, err
	}
	return response(req, res), nil
}

// escaped is a query in printable ASCII, as browsers send it; the other parts of a
// URL are escaped anyway.
func escaped(query string) string {
	var b strings.Builder
	for i := range len(query) {
		if c := query[i]; c <= ' ' || c >= 0x7f {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// readBody reads the body and closes it, as a RoundTripper must in any case.
func readBody(req *http.Request) ([]byte, error) {
	if req.Body == nil {
		return nil, nil
	}
	body, err := io.ReadAll(io.LimitReader(req.Body, spoke.MaxRequestBody+1))
	if err = errors.Join(err, req.Body.Close()); err != nil {
		return nil, fmt.Errorf("spokehttp: reading the body: %w", err)
	}
	if len(body) > spoke.MaxRequestBody {
		return nil, errBody
	}
	return body, nil
}

func method(req *http.Request) string {
	if req.Method == "" {
		return http.MethodGet
	}
	return req.Method
}

func response(req *http.Request, res spoke.HTTPResponse) *http.Response {
	header := http.Header{}
	for name, values := range res.Header {
		for _, v := range values {
			header.Add(name, v)
		}
	}
	out := &http.Response{
		Status:     fmt.Sprintf("%d %s", res.Status, http.StatusText(res.Status)),
		StatusCode: res.Status,
		Proto:      "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        header,
		Body:          io.NopCloser(bytes.NewReader(res.Body)),
		ContentLength: int64(len(res.Body)),
		Request:       req,
	}
	return out
}
