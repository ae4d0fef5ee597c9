package hub

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/isolategpt/isolategpt/isc"
)

// remoteRequest is what an app wants to send to a remote host.
type remoteRequest struct {
	method, url string
	header      map[string][]string
	body        []byte
	unseen      bool // it is a connection, of which only the host is seen
}

// connectionTo is a connection of the app's own to a host, "http://" before its
// name if it is without TLS.
func connectionTo(host string) remoteRequest {
	if !strings.HasPrefix(host, "http://") {
		host = "https://" + host
	}
	return remoteRequest{method: "CONNECT", url: host + "/", unseen: true}
}

// maxShownBody is the most of a request's body that a dialog shows, in bytes.
// Beyond it, and of what is no text, it shows size and digest.
const maxShownBody = 32 << 10

// outgoing is a remoteRequest that can be asked about.
type outgoing struct {
	address string // its URL, in the form that is shown and sent
	name    string // the host's name
	host    string // the host as it is asked about: without TLS it is another
	payload json.RawMessage
	whole   bool // the payload holds all that leaves
}

// outgoing is r in the one form that is shown and sent.
func (r remoteRequest) outgoing() (outgoing, error) {
	u, err := url.Parse(r.url)
	if err != nil || u.Hostname() == "" || u.User != nil || u.Fragment != "" || !r.isText() {
		return outgoing{}, errNotSent
	}
	out := outgoing{address: u.String(), name: u.Hostname(), whole: true}
	switch u.Scheme {
	case "https":
		out.host = u.Host
	case "http":
		out.host = "http://" + u.Host
	default:
		return outgoing{}, errNotSent
	}
	if r.unseen && out.address != u.Scheme+"://"+out.name+"/" {
		return outgoing{}, errNotSent // more than a host
	}
	shown := map[string]any{"method": r.method, "url": out.address}
	if len(r.header) > 0 {
		shown["header"] = r.header
	}
	switch out.whole = len(r.body) <= maxShownBody && utf8.Valid(r.body); {
	case !out.whole:
		shown["body_digest"], shown["body_bytes"] = isc.DigestOf(r.body).String(), len(r.body)
	case len(r.body) > 0:
		shown["body"] = string(r.body)
	}
	out.whole = out.whole && !r.unseen
	raw, err := json.Marshal(shown)
	if err == nil {
		out.payload, err = isc.Canonical(raw)
	}
	return out, err
}

// isText says whether all of r but its body is UTF-8, so that JSON shows it as it
// is.
func (r remoteRequest) isText() bool {
	odd := func(s string) bool { return !utf8.ValidString(s) }
	for name, values := range r.header {
		if odd(name) || slices.ContainsFunc(values, odd) {
			return false
		}
	}
	return !odd(r.url) && !odd(r.method)
}
