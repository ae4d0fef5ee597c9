package egress_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/spoke"
	"github.com/isolategpt/isolategpt/spoke/egress"
)

// TestPlainHTTPIsAuthorizedApart: who lets a host be reached with TLS does not
// let it be reached without.
func TestPlainHTTPIsAuthorizedApart(t *testing.T) {
	r := start(t, false, func(http.ResponseWriter, *http.Request) {})
	var plain, secure []string
	proxy := proxyFor(t, r.port, func(c *egress.ProxyConfig) {
		c.Ports = append(c.Ports, 80)
		c.Authorize = func(_ context.Context, host string) error { secure = append(secure, host); return nil }
		c.AuthorizePlain = func(_ context.Context, host string) error { plain = append(plain, host); return spoke.ErrRefused }
	})
	require.Equal(t, http.StatusForbidden, say(t, proxy, fmt.Sprintf("GET http://example.com:%d/ HTTP/1.1\r\nHost: example.com\r\n\r\n", r.port)))
	require.Equal(t, http.StatusForbidden, say(t, proxy, "CONNECT example.com:80 HTTP/1.1\r\nHost: example.com\r\n\r\n"))
	require.Len(t, plain, 2)
	require.Empty(t, secure)
	require.Equal(t, http.StatusOK, say(t, proxy, fmt.Sprintf("CONNECT example.com:%d HTTP/1.1\r\nHost: example.com\r\n\r\n", r.port)))
	require.Len(t, secure, 1)
}
