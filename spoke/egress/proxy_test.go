package egress_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/spoke"
	"github.com/isolategpt/isolategpt/spoke/egress"
)

// only lets a proxy's program to example.com.
func only(_ context.Context, host string) error {
	if host != "example.com" {
		return spoke.ErrRefused
	}
	return nil
}

// proxyFor serves r as example.com through a proxy, and gives its address.
func proxyFor(t testing.TB, port uint16, edit func(*egress.ProxyConfig)) string {
	t.Helper()
	cfg := egress.ProxyConfig{Authorize: only, Ports: []uint16{port}, Allow: []netip.Prefix{loopback},
		Resolver: names(func(string) []string { return []string{"127.0.0.1"} })}
	if edit != nil {
		edit(&cfg)
	}
	p, err := egress.NewProxy(cfg)
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	served := make(chan error, 1)
	go func() { served <- p.Serve(context.Background(), l) }()
	t.Cleanup(func() {
		require.NoError(t, p.Close())
		require.ErrorIs(t, <-served, egress.ErrProxyClosed)
	})
	return l.Addr().String()
}

// program is a foreign program's client, which trusts r.
func (r remote) program(t testing.TB, proxy string) *http.Client {
	tr := &http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: proxy})}
	if r.TLS != nil {
		roots := x509.NewCertPool()
		roots.AddCert(r.Certificate())
		tr.TLSClientConfig = &tls.Config{RootCAs: roots}
	}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

// say sends a request as it is and gives the status of the answer.
func say(t testing.TB, proxy, request string) int {
	t.Helper()
	conn, err := net.Dial("tcp", proxy)
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	_, err = io.WriteString(conn, request)
	require.NoError(t, err)
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	return res.StatusCode
}

func TestAForeignProgramReachesItsHostsThroughTheProxy(t *testing.T) {
	for name, secure := range map[string]bool{"https": true, "http": false} {
		t.Run(name, func(t *testing.T) {
			r := start(t, secure, func(w http.ResponseWriter, req *http.Request) {
				body, _ := io.ReadAll(req.Body)
				_, _ = fmt.Fprintf(w, "%s %s %s", req.Method, req.Host, body)
			})
			program := r.program(t, proxyFor(t, r.port, nil))
			for range 3 {
				res, err := program.Post(fmt.Sprintf("%s://example.com:%d/", name, r.port), "text/plain", strings.NewReader("body"))
				require.NoError(t, err)
				body, err := io.ReadAll(res.Body)
				require.NoError(t, err)
				require.NoError(t, res.Body.Close())
				require.Equal(t, fmt.Sprintf("POST example.com:%d body", r.port), string(body))
			}
		})
	}
}

func TestTheProxyRefusesWhateverIsNotAuthorized(t *testing.T) {
	r := start(t, false, func(http.ResponseWriter, *http.Request) { t.Error("it was asked") })
	proxy := proxyFor(t, r.port, func(c *egress.ProxyConfig) {
		// An address is refused without being asked about.
		c.Authorize = func(ctx context.Context, host string) error {
			if strings.HasPrefix(host, "example.") && !strings.HasSuffix(host, ".") {
				return only(ctx, host)
			}
			return nil
		}
	})
	for name, target := range map[string]string{
		"another host": fmt.Sprintf("example.net:%d", r.port),
		"another port": "example.com:22",
		"address":      fmt.Sprintf("127.0.0.1:%d", r.port),
		"IPv6":         fmt.Sprintf("[::1]:%d", r.port),
		"decimal":      fmt.Sprintf("2130706433:%d", r.port),
		"upper case":   fmt.Sprintf("EXAMPLE.com:%d", r.port),
		"final dot":    fmt.Sprintf("example.com.:%d", r.port),
		"large port":   fmt.Sprintf("example.com:%d", 65536+int(r.port)),
		"no port":      "example.com",
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, http.StatusForbidden, say(t, proxy, "CONNECT "+target+" HTTP/1.1\r\nHost: example.com\r\n\r\n"))
			if name != "no port" { // which is port 80
				require.NotEqual(t, http.StatusOK, say(t, proxy, "GET http://"+target+"/ HTTP/1.1\r\nHost: example.com\r\n\r\n"))
			}
		})
	}
	for name, request := range map[string]string{
		"relative":     "GET / HTTP/1.1\r\nHost: example.com\r\n\r\n",
		"https":        fmt.Sprintf("GET https://example.com:%d/ HTTP/1.1\r\nHost: example.com\r\n\r\n", r.port),
		"user":         fmt.Sprintf("GET http://a:b@example.com:%d/ HTTP/1.1\r\nHost: example.com\r\n\r\n", r.port),
		"trace":        fmt.Sprintf("TRACE http://example.com:%d/ HTTP/1.1\r\nHost: example.com\r\n\r\n", r.port),
		"no ASCII":     fmt.Sprintf("GET http://example.com:%d/?\u202e HTTP/1.1\r\nHost: example.com\r\n\r\n", r.port),
		"body of GET":  fmt.Sprintf("GET http://example.com:%d/ HTTP/1.1\r\nHost: example.com\r\nContent-Length: 1\r\n\r\nx", r.port),
		"body of HEAD": fmt.Sprintf("HEAD http://example.com:%d/ HTTP/1.1\r\nHost: example.com\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", r.port),
		"port 80":      "GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, http.StatusForbidden, say(t, proxy, request)) })
	}
	for name, request := range map[string]string{
		"space":   fmt.Sprintf("GET http://example.com:%d/?x HTTP/1.0 HTTP/1.1\r\nHost: example.com\r\n\r\n", r.port),
		"tab":     fmt.Sprintf("GET http://example.com:%d/?a\tb HTTP/1.1\r\nHost: example.com\r\n\r\n", r.port),
		"garbage": "\x16\x03\x01\x00\xa5\r\n\r\n",
		"long":    "GET http://example.com/ HTTP/1.1\r\nX: " + strings.Repeat("x", 32<<10),
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, http.StatusBadRequest, say(t, proxy, request)) })
	}
}

func TestAProxyThatIsToldNothingRefusesEverything(t *testing.T) {
	for name, authorize := range map[string]func(context.Context, string) error{
		"nil":   nil,
		"error": func(context.Context, string) error { return errors.New("no") },
		"panic": func(context.Context, string) error { panic("no") },
	} {
		t.Run(name, func(t *testing.T) {
			proxy := proxyFor(t, 443, func(c *egress.ProxyConfig) { c.Authorize, c.Ports = authorize, nil })
			require.Equal(t, http.StatusForbidden, say(t, proxy, "CONNECT example.com:443 HTTP/1.1\r\n\r\n"))
			require.Equal(t, http.StatusForbidden, say(t, proxy, "GET http://example.com/ HTTP/1.1\r\nHost: x\r\n\r\n"))
		})
	}
}

func TestTheProxyJudgesTheAddressThatIsConnectedTo(t *testing.T) {
	for _, address := range []string{"169.254.169.254", "127.0.0.2", "10.0.0.1", "::ffff:127.0.0.2"} {
		proxy := proxyFor(t, 443, func(c *egress.ProxyConfig) {
			c.Ports = []uint16{443, 80}
			c.Resolver = names(func(string) []string { return []string{address} })
		})
		require.Equal(t, http.StatusForbidden, say(t, proxy, "CONNECT example.com:443 HTTP/1.1\r\n\r\n"), address)
		require.Equal(t, http.StatusForbidden, say(t, proxy, "GET http://example.com/ HTTP/1.1\r\nHost: x\r\n\r\n"), address)
	}
}

func TestTheProxyPassesNoAuthorityOverHTTP(t *testing.T) {
	var seen http.Header
	r := start(t, false, func(w http.ResponseWriter, req *http.Request) {
		seen = req.Header.Clone()
		seen.Set("Seen-Host", req.Host)
		w.Header().Set("Set-Cookie", "a=b")
	})
	conn, err := net.Dial("tcp", proxyFor(t, r.port, nil))
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	_, err = fmt.Fprintf(conn, "GET http://example.com:%d/ HTTP/1.1\r\nHost: evil.net\r\nCookie: a=b\r\nAuthorization: x\r\n"+
		"Proxy-Authorization: x\r\nX-Keep: yes\r\n\r\n", r.port)
	require.NoError(t, err)
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, http.StatusOK, res.StatusCode)
	require.Empty(t, res.Header["Set-Cookie"])
	require.Equal(t, fmt.Sprintf("example.com:%d", r.port), seen.Get("Seen-Host"))
	for _, name := range []string{"Cookie", "Authorization", "Proxy-Authorization"} {
		require.NotContains(t, seen, name)
	}
	require.Equal(t, "yes", seen.Get("X-Keep"))
}

// tunnel opens one to a listener that the test serves itself.
func tunnel(t *testing.T, edit func(*egress.ProxyConfig)) (inside, outside net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = l.Close() }()
	_, port, err := net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	inside, err = net.Dial("tcp", proxyFor(t, uint16(l.Addr().(*net.TCPAddr).Port), edit))
	require.NoError(t, err)
	t.Cleanup(func() { _ = inside.Close() })
	_, err = fmt.Fprintf(inside, "CONNECT example.com:%s HTTP/1.1\r\n\r\n", port)
	require.NoError(t, err)
	outside, err = l.Accept()
	require.NoError(t, err)
	t.Cleanup(func() { _ = outside.Close() })
	line := make([]byte, len("HTTP/1.1 200 Connection established\r\n\r\n"))
	_, err = io.ReadFull(inside, line)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(line), "HTTP/1.1 200 "))
	for _, c := range []net.Conn{inside, outside} {
		require.NoError(t, c.SetDeadline(time.Now().Add(20*time.Second)))
	}
	return inside, outside
}

func TestATunnelPassesTheEndOfEachDirection(t *testing.T) {
	inside, outside := tunnel(t, nil)
	_, err := io.WriteString(inside, "question")
	require.NoError(t, err)
	require.NoError(t, inside.(*net.TCPConn).CloseWrite())
	got, err := io.ReadAll(outside)
	require.NoError(t, err)
	require.Equal(t, "question", string(got))
	_, err = io.WriteString(outside, "answer")
	require.NoError(t, err)
	require.NoError(t, outside.Close())
	got, err = io.ReadAll(inside)
	require.NoError(t, err)
	require.Equal(t, "answer", string(got))
}

func TestATunnelIsBounded(t *testing.T) {
	for name, edit := range map[string]func(*egress.ProxyConfig){
		"idle":  func(c *egress.ProxyConfig) { c.Idle = 50 * time.Millisecond },
		"total": func(c *egress.ProxyConfig) { c.Total = 50 * time.Millisecond },
		"bytes": func(c *egress.ProxyConfig) { c.MaxBytes = 100 << 10 },
	} {
		t.Run(name, func(t *testing.T) {
			inside, outside := tunnel(t, edit)
			if name == "bytes" {
				go func() { _, _ = outside.Write(make([]byte, 1<<20)) }()
			}
			n, err := io.Copy(io.Discard, inside)
			require.NotErrorIs(t, err, context.DeadlineExceeded)
			var timeout net.Error
			require.False(t, errors.As(err, &timeout) && timeout.Timeout(), "the proxy did not end it")
			require.LessOrEqual(t, n, int64(100<<10))
			_, err = io.Copy(io.Discard, outside)
			require.False(t, errors.As(err, &timeout) && timeout.Timeout(), "the proxy did not end it outside")
		})
	}
}

// Who holds all connections holds the proxy and nothing else; Close ends them.
func TestTheProxyServesABoundedNumberOfConnections(t *testing.T) {
	r := start(t, false, func(http.ResponseWriter, *http.Request) {})
	entered := make(chan struct{}, 8)
	proxy := proxyFor(t, r.port, func(c *egress.ProxyConfig) {
		c.MaxConns = 2
		c.Authorize = func(ctx context.Context, _ string) error {
			entered <- struct{}{}
			<-ctx.Done()
			return ctx.Err()
		}
	})
	var conns []net.Conn
	for range 4 {
		conn, err := net.Dial("tcp", proxy)
		require.NoError(t, err)
		_, err = fmt.Fprintf(conn, "CONNECT example.com:%d HTTP/1.1\r\n\r\n", r.port)
		require.NoError(t, err)
		conns = append(conns, conn)
	}
	<-entered
	<-entered
	select {
	case <-entered:
		t.Error("a third one was served")
	case <-time.After(50 * time.Millisecond):
	}
	for _, c := range conns {
		require.NoError(t, c.Close())
	}
}

func TestTheProxyLeavesWhoSaysNothing(t *testing.T) {
	conn, err := net.Dial("tcp", proxyFor(t, 443, func(c *egress.ProxyConfig) { c.Idle = 50 * time.Millisecond }))
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	require.NoError(t, conn.SetDeadline(time.Now().Add(5*time.Second))) // less than a head may take
	_, err = conn.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF)
}

func TestAClosedProxyServesNothing(t *testing.T) {
	p, err := egress.NewProxy(egress.ProxyConfig{})
	require.NoError(t, err)
	require.NoError(t, p.Close())
	require.NoError(t, p.Close())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.ErrorIs(t, p.Serve(t.Context(), l), egress.ErrProxyClosed)
	_, err = l.Accept()
	require.ErrorIs(t, err, net.ErrClosed)
	_, err = egress.NewProxy(egress.ProxyConfig{Ports: []uint16{0}})
	require.ErrorContains(t, err, "port 0")
	_, err = egress.NewProxy(egress.ProxyConfig{})
	require.NoError(t, err)
}
