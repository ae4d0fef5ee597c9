package foreign_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/hub"
	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/permission"
	"github.com/isolategpt/isolategpt/spoke"
	"github.com/isolategpt/isolategpt/spoke/egress"
	"github.com/isolategpt/isolategpt/spoke/foreign"
)

// online is a desk whose tool may reach localhost, at the port.
func online(t testing.TB, edit ...func(*hub.Config)) (d *desk, port string) {
	needNamespaces(t)
	port, settings := remote(t)
	a := pythonApp(t, tool("localhost", "other.test"), func(c *foreign.Config) { c.Proxy = settings })
	return open(t, a, edit...), port
}

// TestAHostOfAProgramIsAskedAboutByTheHub is SendRemote of the consent page, for a
// program with an HTTP client of its own: who, to which host, and that what is
// sent is not seen.
func TestAHostOfAProgramIsAskedAboutByTheHub(t *testing.T) {
	d, port := online(t)
	d.person.answer = permission.AllowSession
	a, events := d.ask(t, "fetch localhost "+port)
	require.Contains(t, a.Text, "200 from outside")
	d.says(t, "fetch localhost "+port, "200 from outside")
	require.Equal(t, []string{"localhost"}, d.person.hosts(), "once in the session")

	q := d.person.asked[0]
	require.Equal(t, permission.SendRemote, q.Kind)
	require.Equal(t, isc.AppID("tool"), q.From.ID)
	require.Equal(t, isc.AppID("tool"), q.To.ID)
	require.Equal(t, isc.FunctionalityName("tool.work"), q.Functionality)
	require.JSONEq(t, `{"method":"CONNECT","url":"https://localhost/"}`, string(q.Payload))
	require.NotContains(t, q.Offered, permission.AllowPermanent)
	var codes []permission.Code
	for _, f := range q.Assessment {
		codes = append(codes, f.Code)
	}
	require.Contains(t, codes, permission.CodeNotShownInFull)
	require.Contains(t, events, hub.Event(hub.Fetched{App: "tool", Host: "localhost"}))
	var trail []string
	for _, r := range d.trail.Records() {
		if r.Event == "fetch" || r.Event == "fetched" {
			trail = append(trail, r.Event+" "+r.Detail)
			require.Equal(t, isc.AppID("tool"), r.App)
		}
	}
	require.Equal(t, []string{"fetch localhost", "fetched localhost", "fetch localhost", "fetched localhost"}, trail)
}

// TestAGrantForTLSCoversNoPlainHTTP: it is another host to the person.
func TestAGrantForTLSCoversNoPlainHTTP(t *testing.T) {
	d, port := online(t)
	d.person.answer = permission.AllowSession
	d.says(t, "fetch localhost "+port, "200 from outside")
	d.says(t, "plain localhost "+port, "200 from outside")
	require.Equal(t, []string{"localhost", "http://localhost"}, d.person.hosts())
	require.JSONEq(t, `{"method":"CONNECT","url":"http://localhost/"}`, string(d.person.asked[1].Payload))
}

// TestAGrantForOneHostOfAProgramCoversNoOther.
func TestAGrantForOneHostOfAProgramCoversNoOther(t *testing.T) {
	d, port := online(t)
	d.person.answer = permission.AllowSession
	d.says(t, "fetch localhost "+port, "200 from outside")
	d.person.answer = permission.Deny
	d.says(t, "fetch other.test "+port, "403")
	require.Equal(t, []string{"localhost", "other.test"}, d.person.hosts())
}

// unable is a fetcher that cannot ask.
type unable struct{ spoke.Fetcher }

func (u unable) Launch(ctx context.Context, spec spoke.Spec) (*spoke.Instance, error) {
	if spec.HTTP != nil {
		spec.HTTP = u.Fetcher
	}
	return foreign.Launcher{Other: spoke.InProcess()}.Launch(ctx, spec)
}

func TestAHostOfAProgramThatIsNotAllowedIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		host   string
		answer permission.Decision
		edit   func(*hub.Config)
		asked  int
		want   string
	}{
		"denied":                {"localhost", permission.Deny, func(*hub.Config) {}, 1, "403"},
		"not in the manifest":   {"example.test", permission.AllowSession, func(*hub.Config) {}, 0, "403"},
		"a host of the hub":     {"127.0.0.1", permission.AllowSession, func(*hub.Config) {}, 0, "403"},
		"nobody to ask":         {"localhost", permission.AllowSession, func(cfg *hub.Config) { cfg.Consent = nil }, 0, "403"},
		"headless":              {"localhost", permission.AllowSession, func(cfg *hub.Config) { cfg.Policy = permission.Headless() }, 0, "403"},
		"no way out":            {"localhost", permission.AllowSession, func(cfg *hub.Config) { cfg.HTTP = nil }, 0, "refused"},
		"a way that cannot ask": {"localhost", permission.AllowSession, func(cfg *hub.Config) { cfg.Launcher = unable{nowhere} }, 0, "403"},
		"what cannot be recorded": {"localhost", permission.AllowSession, func(cfg *hub.Config) {
			cfg.Audit = noFetches{}
		}, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			needNamespaces(t)
			var reached atomic.Int32
			settings, port := counting(t, &reached)
			a := pythonApp(t, tool("localhost"), func(cfg *foreign.Config) { cfg.Proxy = settings })
			d := open(t, a, c.edit)
			d.person.answer = c.answer
			if c.want != "" {
				d.says(t, "fetch "+c.host+" "+port, c.want)
			} else {
				for _, err := range d.Run(t.Context(), "fetch "+c.host+" "+port) {
					_ = err // the run may end over it
				}
			}
			require.Len(t, d.person.hosts(), c.asked)
			require.Zero(t, reached.Load())
		})
	}
}

// noFetches keeps no request.
type noFetches struct{}

func (noFetches) Append(_ context.Context, r hub.Record) error {
	if r.Event == "fetch" {
		return io.ErrShortWrite
	}
	return nil
}

// counting is remote that counts who comes.
func counting(t testing.TB, reached *atomic.Int32) (egress.ProxyConfig, string) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		reached.Add(1)
		_, _ = io.WriteString(w, "from outside")
	}))
	t.Cleanup(s.Close)
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	require.NoError(t, err)
	n, err := strconv.ParseUint(port, 10, 16)
	require.NoError(t, err)
	return egress.ProxyConfig{Ports: []uint16{uint16(n)}, Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}, port
}

// TestConnectionsOfAProgramAreCounted as requests of the task are.
func TestConnectionsOfAProgramAreCounted(t *testing.T) {
	d, port := online(t, func(cfg *hub.Config) { cfg.Limits.TaskCalls = 2 })
	d.person.answer = permission.AllowOnce
	d.says(t, "thrice localhost "+port, "200 from outside, 200 from outside, refused")
	require.Len(t, d.person.hosts(), 2)
}

// TestAConnectionEndsWithItsCall: what a later call brings is not sent over what
// was allowed before.
func TestAConnectionEndsWithItsCall(t *testing.T) {
	needNamespaces(t)
	var reached atomic.Int32
	settings, port := counting(t, &reached)
	d := open(t, pythonApp(t, tool("localhost"), func(cfg *foreign.Config) { cfg.Proxy = settings }))
	d.person.answer = permission.AllowOnce
	d.says(t, "hold localhost "+port, "from outside")
	d.says(t, "again x", "closed")
	require.EqualValues(t, 1, reached.Load())
}

// TestNoHostOfAProgramWithoutACall: between calls nobody is asked.
func TestNoHostOfAProgramWithoutACall(t *testing.T) {
	needNamespaces(t)
	var reached atomic.Int32
	settings, port := counting(t, &reached)
	cfg := python(t).script(t, "early.py", `
import http.client, json, sys

def fetch():
    c = http.client.HTTPConnection("127.0.0.1", 3128)
    c.set_tunnel("localhost", int(sys.argv[1]))
    try:
        c.request("GET", "/")
        return "reached"
    except OSError as e:
        return str(e)

early = fetch()
for line in sys.stdin:
    print(json.dumps({"result": {"text": early}}), flush=True)
`, port)
	cfg.Proxy = settings
	refused := make(refusals, 8)
	cfg.Logger = slog.New(slog.NewTextHandler(refused, nil))
	a, err := foreign.NewApp(tool("localhost"), cfg)
	require.NoError(t, err)
	var way lets
	i, err := foreign.Launcher{}.Launch(t.Context(), spoke.Spec{App: a, HTTP: &way})
	require.NoError(t, err)
	defer func() { require.NoError(t, i.Conn.Close()) }()
	<-refused
	require.NoError(t, i.Conn.Send(t.Context(), isc.Task{Kind: isc.TaskCall, Functionality: "tool.work", Body: []byte(`{"text":"x"}`)}))
	m, err := i.Conn.Recv(t.Context())
	require.NoError(t, err)
	require.Contains(t, string(m.(isc.Result).Body), "403")
	require.Zero(t, way.asked.Load())
	require.Zero(t, reached.Load())
}

// lets is a way out that lets everything out.
type lets struct {
	spoke.Fetcher
	asked atomic.Int32
}

func (l *lets) Authorize(context.Context, string) error {
	l.asked.Add(1)
	return nil
}

// refusals tells of each host that was refused in a log.
type refusals chan struct{}

func (r refusals) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("host refused")) {
		r <- struct{}{}
	}
	return len(line), nil
}
