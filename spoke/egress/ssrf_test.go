package egress_test

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/spoke"
	"github.com/isolategpt/isolategpt/spoke/egress"
)

// A name that leads to a special address leads nowhere, whatever the name is.
func TestNoNameLeadsToASpecialAddress(t *testing.T) {
	for class, address := range map[string]string{
		"loopback":              "127.0.0.1",
		"loopback, another":     "127.8.8.8",
		"this network":          "0.0.0.0",
		"private 10":            "10.0.0.1",
		"private 172":           "172.16.0.1",
		"private 192":           "192.168.1.1",
		"metadata":              "169.254.169.254",
		"carrier":               "100.64.0.1",
		"metadata in carrier":   "100.100.100.200",
		"protocols":             "192.0.0.192",
		"documentation 1":       "192.0.2.1",
		"documentation 2":       "198.51.100.1",
		"documentation 3":       "203.0.113.1",
		"benchmarks":            "198.18.0.1",
		"multicast":             "224.0.0.1",
		"reserved":              "240.0.0.1",
		"broadcast":             "255.255.255.255",
		"cloud":                 "168.63.129.16",
		"6: loopback":           "::1",
		"6: unspecified":        "::",
		"6: mapped loopback":    "::ffff:127.0.0.1",
		"6: mapped metadata":    "::ffff:169.254.169.254",
		"6: NAT64":              "64:ff9b::a9fe:a9fe",
		"6: NAT64, local":       "64:ff9b:1::a9fe:a9fe",
		"6: 6to4":               "2002:7f00:1::",
		"6: Teredo":             "2001::1",
		"6: protocols":          "2001:20::1",
		"6: documentation":      "2001:db8::1",
		"6: documentation, new": "3fff::1",
		"6: unique local":       "fd00:ec2::254",
		"6: link-local":         "fe80::1",
		"6: site-local":         "fec0::1",
		"6: multicast":          "ff02::1",
		"6: discarded":          "100::1",
		"6: segment routing":    "5f00::1",
	} {
		t.Run(class, func(t *testing.T) {
			if strings.HasPrefix(class, "6:") && !strings.HasPrefix(address, "::ffff:") && !hasIPv6() {
				t.Skip("no IPv6 here: no socket that could be refused")
			}
			c, err := egress.New(egress.Config{Resolver: names(func(string) []string { return []string{address} })})
			require.NoError(t, err)
			_, err = c.Fetch(t.Context(), get("https://example.com/"))
			var refused *egress.RefusedError
			require.ErrorAs(t, err, &refused)
			require.ErrorIs(t, err, spoke.ErrRefused)
			require.Equal(t, "example.com", refused.Host)
			require.Contains(t, refused.Reason, netip.MustParseAddr(address).Unmap().String())
		})
	}
}

func hasIPv6() bool {
	l, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		return false
	}
	return l.Close() == nil
}

// Names that a system's resolver takes for addresses are no names.
func TestAddressesAreNoHosts(t *testing.T) {
	c, err := egress.New(egress.Config{Allow: []netip.Prefix{loopback}})
	require.NoError(t, err)
	for _, host := range []string{"127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1", "0x7f000001", "127.1", "017700000001",
		"127.0.0.1.", "example.com.", "example.com:8443", "EXAMPLE.com", "", "a@example.com", "éxample.com"} {
		_, err := c.Fetch(t.Context(), get("https://"+host+"/"))
		require.ErrorIs(t, err, spoke.ErrRefused, host)
	}
	for _, address := range []string{"http://example.com/", "ftp://example.com/", "https:example.com", "https://example.com/#x", "://", "https://example.com/\r\n",
		"https://example.com/?x HTTP/1.0", "https://example.com/?\t", "https://example.com/?\x7f", "https://example.com/?\u202e", "https://example.com/?\u2028"} {
		_, err := c.Fetch(t.Context(), get(address))
		require.ErrorIs(t, err, spoke.ErrRefused, address)
	}
	for _, method := range []string{"", "CONNECT", "connect", "TRACE", "Trace", "GET / HTTP/1.1\r\nX:"} {
		_, err := c.Fetch(t.Context(), spoke.HTTPRequest{Method: method, URL: "https://example.com/"})
		require.ErrorIs(t, err, spoke.ErrRefused, method)
	}
	for _, method := range []string{"GET", "HEAD", "get"} {
		_, err := c.Fetch(t.Context(), spoke.HTTPRequest{Method: method, URL: "https://example.com/", Body: []byte("x")})
		require.ErrorIs(t, err, spoke.ErrRefused, method)
	}
}

// A name server that answers differently each time gains nothing: what is judged
// is what is connected to.
func TestRebindingIsRefused(t *testing.T) {
	var asked, served atomic.Int32
	r := start(t, true, func(http.ResponseWriter, *http.Request) { served.Add(1) })
	for name, second := range map[string][]string{
		"loopback":       {"127.0.0.2"},
		"metadata":       {"169.254.169.254"},
		"two of them":    {"169.254.169.254", "127.0.0.2"},
		"mapped private": {"::ffff:10.0.0.1"},
	} {
		t.Run(name, func(t *testing.T) {
			asked.Store(0)
			served.Store(0)
			c := r.client(t, func(cfg *egress.Config, _ *egress.Host) {
				cfg.Resolver = names(func(string) []string {
					if asked.Add(1) <= 2 { // A and AAAA of the first request
						return []string{"127.0.0.1"}
					}
					return second
				})
			})
			_, err := c.Fetch(t.Context(), get("https://example.com/"))
			require.NoError(t, err)
			require.NoError(t, c.Close())
			_, err = c.Fetch(t.Context(), get("https://example.com/"))
			var refused *egress.RefusedError
			require.ErrorAs(t, err, &refused)
			require.EqualValues(t, 1, served.Load())
		})
	}
}

func TestExceptionsAreExact(t *testing.T) {
	for _, p := range []netip.Prefix{{}, netip.MustParsePrefix("::ffff:127.0.0.0/104")} {
		_, err := egress.New(egress.Config{Allow: []netip.Prefix{p}})
		require.ErrorContains(t, err, "allowed range")
		_, err = egress.NewProxy(egress.ProxyConfig{Allow: []netip.Prefix{p}})
		require.ErrorContains(t, err, "allowed range")
	}
	_, err := egress.New(egress.Config{Hosts: map[string]egress.Host{"Example.com": {}}})
	require.ErrorContains(t, err, "plain name")
}
