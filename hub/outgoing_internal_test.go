package hub

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/isc"
)

// FuzzWhatIsShownOfARequestIsWhatIsSent: whatever an app asks for, what is asked
// about names the host that a client would connect to, and the payload is
// canonical and holds all that is sent, or says that it does not.
func FuzzWhatIsShownOfARequestIsWhatIsSent(f *testing.F) {
	for _, url := range []string{
		"https://a.test/x?q=1", "http://a.test", "https://a.test@b.test/", "https://a.test:443/", "https://A.test/#x", "https://a.test\\@b.test/",
		"https://[::1]/", "//a.test/", "https:a.test", "https://a.test/\xff", "https://a.test%2fb.test/", "https://a.test?@b.test", "https:///a.test",
	} {
		f.Add("GET", url, "X-A", "v", []byte("body"))
	}
	f.Add("PO\xffST", "https://a.test/", "x-a", "\x00", []byte{0xff})
	f.Fuzz(func(t *testing.T, method, url, name, value string, body []byte) {
		out, err := remoteRequest{method: method, url: url, header: map[string][]string{name: {value}}, body: body}.outgoing()
		if err != nil {
			return
		}
		canonical, err := isc.Canonical(out.payload)
		require.NoError(t, err)
		require.Equal(t, string(canonical), string(out.payload))
		var shown struct {
			Method, URL, Body string
			Header            map[string][]string
		}
		require.NoError(t, json.Unmarshal(out.payload, &shown))
		require.Equal(t, method, shown.Method)
		require.Equal(t, out.address, shown.URL)
		require.Equal(t, []string{value}, shown.Header[name])
		require.Equal(t, out.whole, bytes.Equal([]byte(shown.Body), body))
		sent, err := http.NewRequest(http.MethodGet, out.address, http.NoBody)
		if err != nil {
			return // and so it cannot be sent
		}
		require.Equal(t, out.name, sent.URL.Hostname())
		require.Equal(t, sent.URL.Scheme == "http", strings.HasPrefix(out.host, "http://"))
		require.Contains(t, out.host, out.name)
		require.Nil(t, sent.URL.User)
	})
}
