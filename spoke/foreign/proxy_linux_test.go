package foreign_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os/exec"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/internal/child"
	"github.com/isolategpt/isolategpt/spoke"
	"github.com/isolategpt/isolategpt/spoke/egress"
	"github.com/isolategpt/isolategpt/spoke/foreign"
)

// remote is a server on this machine's loopback, and how a proxy may reach it.
func remote(t testing.TB) (port string, settings egress.ProxyConfig) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "from outside") }))
	t.Cleanup(s.Close)
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	require.NoError(t, err)
	n, err := strconv.ParseUint(port, 10, 16)
	require.NoError(t, err)
	return port, egress.ProxyConfig{Ports: []uint16{uint16(n)}, Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
}

func needNamespaces(t testing.TB) {
	if err := child.Namespaces(); err != nil {
		t.Skip("a proxy needs namespaces: ", err)
	}
}

func allow(context.Context, string) error { return nil }

func TestAProgramReachesItsHostsThroughTheProxyAlone(t *testing.T) {
	needNamespaces(t)
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("there is no curl here")
	}
	port, settings := remote(t)
	refuse := func(context.Context, string) error { return errors.New("the person says no") }
	for name, c := range map[string]struct {
		hosts     []string
		authorize func(context.Context, string) error
		want      string
	}{
		"named and allowed":     {[]string{"localhost"}, allow, "from outside 200"},
		"named and refused":     {[]string{"localhost"}, refuse, " 403"},
		"named and nobody asks": {[]string{"localhost"}, nil, " 403"},
		"not named":             {[]string{"example.com"}, allow, " 403"},
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int32
			cfg := foreign.Config{
				Path:  curl,
				Args:  []string{"-q", "-s", "--proxytunnel", "-w", " %{http_connect}", "http://localhost:" + port + "/"},
				Hosts: c.hosts, Proxy: settings, Waive: waived(),
			}
			if c.authorize != nil {
				cfg.Authorize = func(ctx context.Context, host string) error {
					asked.Add(1)
					require.Equal(t, "localhost", host)
					return c.authorize(ctx, host)
				}
			}
			require.Equal(t, c.want, output(t, start(t, cfg)))
			if name == "not named" {
				require.Zero(t, asked.Load())
			}
		})
	}
}

func TestNoNetworkButTheProxy(t *testing.T) {
	needNamespaces(t)
	port, settings := remote(t)
	cfg := python(t).script(t, "network.py", `
import http.client, socket, sys
port = int(sys.argv[1])

def attempt(name, f):
    try:
        f()
        print(name, "worked")
    except Exception:
        print(name, "refused")

def fetch():
    c = http.client.HTTPConnection("127.0.0.1", 3128)
    c.set_tunnel("localhost", port)
    c.request("GET", "/")
    assert c.getresponse().read() == b"from outside"

def connect(*address, family=socket.AF_INET, kind=socket.SOCK_STREAM, protocol=0):
    with socket.socket(family, kind, protocol) as s:
        s.settimeout(2)
        s.connect(address)

def listen():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen()

attempt("proxy", fetch)
attempt("direct", lambda: connect("127.0.0.1", port))
attempt("another port", lambda: connect("127.0.0.1", 80))
attempt("away", lambda: connect("192.0.2.1", 80))
attempt("MPTCP", lambda: connect("127.0.0.1", 3128, protocol=262))
attempt("UDP", lambda: connect("127.0.0.1", 53, kind=socket.SOCK_DGRAM))
attempt("IPv6", lambda: connect("::1", 3128, family=socket.AF_INET6))
attempt("netlink", lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0))
attempt("unix", lambda: socket.socket(socket.AF_UNIX))
attempt("listen", listen)
`, port)
	cfg.Hosts, cfg.Authorize, cfg.Proxy = []string{"localhost"}, allow, settings
	require.Equal(t, "proxy worked\ndirect refused\nanother port refused\naway refused\nMPTCP refused\nUDP refused\n"+
		"IPv6 refused\nnetlink refused\nunix refused\nlisten refused\n", output(t, start(t, cfg)))
}

// A dialog may be open when the program ends.
func TestCloseEndsTheQuestionsOfTheProxy(t *testing.T) {
	needNamespaces(t)
	port, settings := remote(t)
	cfg := python(t).script(t, "ask.py", `
import http.client, sys
c = http.client.HTTPConnection("127.0.0.1", 3128)
c.set_tunnel("localhost", int(sys.argv[1]))
c.request("GET", "/")
`, port)
	asked, ended := make(chan struct{}), make(chan struct{})
	cfg.Hosts, cfg.Proxy = []string{"localhost"}, settings
	cfg.Authorize = func(ctx context.Context, _ string) error {
		close(asked)
		<-ctx.Done()
		close(ended)
		return ctx.Err()
	}
	cfg.Grace = 200 * time.Millisecond
	before := descriptors(t)
	p := start(t, cfg)
	<-asked
	require.NoError(t, p.Close())
	<-ended
	require.Equal(t, before, descriptors(t))
}

func TestCloseIsBoundedWhenAuthorizeIgnoresItsContext(t *testing.T) {
	needNamespaces(t)
	port, settings := remote(t)
	cfg := python(t).script(t, "ask.py", `
import http.client, sys
c = http.client.HTTPConnection("127.0.0.1", 3128)
c.set_tunnel("localhost", int(sys.argv[1]))
c.request("GET", "/")
`, port)
	asked, release := make(chan struct{}), make(chan struct{})
	cfg.Hosts, cfg.Proxy = []string{"localhost"}, settings
	cfg.Authorize = func(context.Context, string) error {
		close(asked)
		<-release
		return nil
	}
	cfg.Grace = 200 * time.Millisecond
	p, err := foreign.Start(t.Context(), cfg)
	require.NoError(t, err)
	<-asked
	require.ErrorIs(t, p.Close(), spoke.ErrStuck)
	close(release)
}
