package egress

import (
	"bytes"
	"iter"
	"net/http"
	"net/textproto"
	"strings"

	"github.com/isolategpt/isolategpt/spoke"
)

// minSecret is how many bytes of a credential are no accident in an answer.
const minSecret = 8

// addCredentials puts the host's fields in, in place of the spoke's, and gives
// their values.
func (c *Client) addCredentials(req *http.Request) ([]string, error) {
	host := c.hosts[req.URL.Hostname()]
	if host.Credentials == nil || req.URL.Scheme != "https" && !host.PlainCredentials {
		return nil, nil
	}
	fields, err := host.Credentials(req.Context())
	if err != nil {
		return nil, err
	}
	own := map[string]bool{"accept-encoding": true} // a packed answer could hide them
	for name := range fields {
		own[folded(name)] = true
	}
	for name := range req.Header {
		if own[folded(name)] {
			delete(req.Header, name)
		}
	}
	var added []string
	for name, values := range fields {
		key := textproto.CanonicalMIMEHeaderKey(name)
		req.Header[key] = append(req.Header[key], values...)
		added = append(added, values...)
	}
	return added, nil
}

// repeats says whether an answer holds a word of a credential as it was sent. One
// that a server changed is not seen.
func repeats(r spoke.HTTPResponse, added []string) bool {
	for secret := range secrets(added) {
		if bytes.Contains(r.Body, []byte(secret)) {
			return true
		}
		for _, values := range r.Header {
			if strings.Contains(strings.Join(values, "\n"), secret) {
				return true
			}
		}
	}
	return false
}

// secrets are the words of credentials that are long enough: what stands between
// spaces, commas and quotes, and what of that is the value of a parameter.
func secrets(added []string) iter.Seq[string] {
	between := func(r rune) bool { return r <= ' ' || strings.ContainsRune(`,;"`, r) }
	return func(yield func(string) bool) {
		for word := range strings.FieldsFuncSeq(strings.Join(added, " "), between) {
			_, value, _ := strings.Cut(word, "=")
			for _, s := range []string{word, value} {
				if len(s) >= minSecret && !yield(s) {
					return
				}
			}
		}
	}
}
