package spoke

import (
	"bytes"
	"errors"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of a request to a remote host and of its answer, in bytes and in
// values of header fields.
const (
	maxURLBytes            = 8 << 10
	maxHeaderFields        = 64
	maxRequestHeaderBytes  = 16 << 10
	maxResponseFields      = 256
	maxResponseHeaderBytes = 32 << 10
)

var (
	errHTTPRequest  = errors.New("spoke: the request is no plain one within the bounds, to a host of the manifest")
	errHTTPResponse = errors.New("spoke: the answer is none within the bounds")
)

// checked is a copy of r in the one form that it is passed on in, if it may be
// sent to one of the hosts at all.
func (r HTTPRequest) checked(hosts []string) (HTTPRequest, error) {
	address, ok := plainURL(r.URL, hosts)
	if !ok || !r.isText() || !plainMethod(r.Method) || !plainBody(r.Method, r.Body) ||
		!plainHeader(r.Header, maxHeaderFields, maxRequestHeaderBytes) {
		return HTTPRequest{}, errHTTPRequest
	}
	return HTTPRequest{Method: r.Method, URL: address, Header: cloneHeader(r.Header), Body: bytes.Clone(r.Body)}, nil
}

// isText says whether all of r but its body is UTF-8.
func (r HTTPRequest) isText() bool {
	for name, values := range r.Header {
		if !utf8.ValidString(name) || !utf8.ValidString(strings.Join(values, "")) {
			return false
		}
	}
	return utf8.ValidString(r.URL) && utf8.ValidString(r.Method)
}

// checked is a copy of r, if a spoke may be given it. A header is made UTF-8, as
// it has to be on the way in.
func (r HTTPResponse) checked() (HTTPResponse, error) {
	if r.Status < 200 || r.Status > 599 || len(r.Body) > MaxResponseBody ||
		!plainHeader(r.Header, maxResponseFields, maxResponseHeaderBytes) {
		return HTTPResponse{}, errHTTPResponse
	}
	out := HTTPResponse{Status: r.Status, Header: cloneHeader(r.Header), Body: bytes.Clone(r.Body)}
	for _, values := range out.Header {
		for i, v := range values {
			values[i] = strings.ToValidUTF8(v, "\uFFFD")
		}
	}
	return out, nil
}

// plainURL is raw in the form that was checked: printable ASCII, which is no more
// than one word of a request's line, http or https, one of the hosts to the
// letter, no port but the scheme's own, no user, no fragment.
func plainURL(raw string, hosts []string) (string, bool) {
	if len(raw) > maxURLBytes || !isWord(raw) || strings.ContainsAny(raw, "#\\") {
		return "", false
	}
	u, err := url.Parse(raw)
	if err != nil || u.User != nil || u.Opaque != "" || u.Path != "" && u.Path[0] != '/' {
		return "", false
	}
	port, ok := map[string]string{"http": ":80", "https": ":443"}[u.Scheme]
	if !ok {
		return "", false
	}
	u.Host = strings.TrimSuffix(u.Host, port)
	if u.Host == "" || !slices.Contains(hosts, u.Host) {
		return "", false
	}
	return u.String(), true
}

// plainMethod takes what is a token of letters, and opens no tunnel and echoes
// no header.
func plainMethod(method string) bool {
	if method == "" || len(method) > 32 || strings.Trim(method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-") != "" {
		return false
	}
	return method != "CONNECT" && method != "TRACE"
}

// plainBody bounds a body. Those of GET and HEAD mean nothing, so that servers
// disagree about where they end.
func plainBody(method string, body []byte) bool {
	return len(body) <= MaxRequestBody && (len(body) == 0 || method != "GET" && method != "HEAD")
}

// isWord says whether s is printable ASCII without spaces.
func isWord(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f })
}

// plainHeader holds that no value can end its field and begin another.
func plainHeader(header map[string][]string, maxFields, maxBytes int) bool {
	fields, size := 0, 0
	for name, values := range header {
		if !isToken(name) {
			return false
		}
		for _, v := range values {
			fields++
			size += len(name) + len(v) + len(": \r\n")
			if !isFieldValue(v) {
				return false
			}
		}
	}
	return len(header) <= maxFields && fields <= maxFields && size <= maxBytes
}

// isToken is RFC 9110, section 5.6.2.
func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return s != ""
}

// isFieldValue is RFC 9110, section 5.5: no control character but the tab.
func isFieldValue(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

func cloneHeader(header map[string][]string) map[string][]string {
	if len(header) == 0 {
		return nil
	}
	out := make(map[string][]string, len(header))
	for name, values := range header {
		out[name] = slices.Clone(values)
	}
	return out
}
