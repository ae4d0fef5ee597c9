package egress_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
	"github.com/isolategpt/isolategpt/spoke/egress"
	"github.com/isolategpt/isolategpt/spoke/spokehttp"
)

type errand struct {
	URL    string `json:"url"`
	Times  int    `json:"times"`
	Follow bool   `json:"follow"`
}

type report struct {
	Status int    `json:"status"`
	Body   string `json:"body"`
	Error  string `json:"error"`
	Nanos  int64  `json:"nanos"` // the median
}

// courier is an app that fetches, and tells all that it sees.
func courier() spoke.App {
	app, err := spoke.New(isc.Manifest{ID: "courier", Name: "Courier", Hosts: []string{"example.com"}},
		spoke.FuncWith("page.get", run, spoke.Reads()))
	if err != nil {
		panic(err) // the test's own mistake
	}
	return app
}

func run(ctx context.Context, hub spoke.Hub, e errand) (report, error) {
	client := &http.Client{Transport: spokehttp.Transport(hub)}
	if !e.Follow {
		client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	var out report
	var took []int64
	for range e.Times {
		began := time.Now()
		var err error
		if out.Status, out.Body, err = fetch(ctx, client, e.URL); err != nil {
			out.Error = err.Error()
		}
		if errors.Is(err, spoke.ErrRefused) {
			out.Error = "refused"
		}
		took = append(took, time.Since(began).Nanoseconds())
	}
	out.Nanos = median(took)
	return out, nil
}

func median(list []int64) int64 {
	slices.Sort(list)
	return list[len(list)/2]
}

// hire launches the app and gives a way to send it off.
func hire(t testing.TB, l spoke.Launcher, f spoke.Fetcher) (do func(errand) report, end func()) {
	t.Helper()
	i, err := l.Launch(context.Background(), spoke.Spec{App: courier(), HTTP: f, Limits: spoke.Limits{MaxCalls: 1000}})
	require.NoError(t, err)
	do = func(e errand) report {
		body, err := json.Marshal(e)
		require.NoError(t, err)
		require.NoError(t, i.Conn.Send(context.Background(), isc.Task{Kind: isc.TaskCall, Functionality: "page.get", Body: body}))
		m, err := i.Conn.Recv(context.Background())
		require.NoError(t, err)
		result, ok := m.(isc.Result)
		require.True(t, ok)
		require.Equal(t, isc.StatusDone, result.Status)
		var out report
		require.NoError(t, json.Unmarshal(result.Body, &out))
		return out
	}
	return do, func() { require.NoError(t, i.Conn.Close()) }
}

// launchers are those that work here.
func launchers(t testing.TB) map[string]spoke.Launcher {
	out := map[string]spoke.Launcher{"in-process": spoke.InProcess()}
	if runtime.GOOS == "linux" {
		p := spoke.Process(spoke.ProcessConfig{})
		t.Cleanup(func() { require.NoError(t, p.Close()) })
		out["process"] = p
	}
	return out
}

// What an app sees of its way out, from inside, over the whole way.
func TestASpokeFetchesThroughItsHostSide(t *testing.T) {
	r := start(t, true, func(w http.ResponseWriter, req *http.Request) {
		switch req.URL.Path {
		case "/metadata":
			http.Redirect(w, req, "http://169.254.169.254/latest", http.StatusFound)
		case "/elsewhere":
			http.Redirect(w, req, "https://example.net/", http.StatusFound)
		case "/around":
			http.Redirect(w, req, "https://example.com/end", http.StatusFound)
		case "/echo":
			_, _ = w.Write([]byte(req.Header.Get("Authorization")))
		default:
			_, _ = w.Write([]byte(req.URL.Path + " " + req.Header.Get("Cookie")))
		}
	})
	asked := make(chan string, 16)
	client := r.client(t, func(_ *egress.Config, h *egress.Host) { h.Credentials = bearer })
	watched := spoke.FetcherFunc(func(ctx context.Context, q spoke.HTTPRequest) (spoke.HTTPResponse, error) {
		asked <- q.URL
		return client.Fetch(ctx, q)
	})
	for name, l := range launchers(t) {
		t.Run(name, func(t *testing.T) {
			do, end := hire(t, l, watched)
			defer end()
			for _, c := range []struct {
				name, url string
				want      report
				asked     []string
			}{
				{"plain", "https://example.com/a", report{Status: 200, Body: "/a "}, []string{"https://example.com/a"}},
				{"redirect", "https://example.com/around", report{Status: 200, Body: "/end "}, []string{"https://example.com/around", "https://example.com/end"}},
				{"redirect to metadata", "https://example.com/metadata", report{Error: "refused"}, []string{"https://example.com/metadata"}},
				{"redirect to another host", "https://example.com/elsewhere", report{Error: "refused"}, []string{"https://example.com/elsewhere"}},
				{"another host", "https://example.net/", report{Error: "refused"}, nil},
				{"loopback", "http://127.0.0.1/", report{Error: "refused"}, nil},
				{"user", "https://a:b@example.com/", report{Error: "refused"}, nil},
				{"http", "http://example.com/", report{Error: "refused"}, []string{"http://example.com/"}},
				{"credential", "https://example.com/echo", report{Error: `Get "https://example.com/echo": spoke: fetch failed`}, []string{"https://example.com/echo"}},
			} {
				t.Run(c.name, func(t *testing.T) {
					got := do(errand{URL: c.url, Times: 1, Follow: true})
					got.Nanos = 0
					require.Equal(t, c.want, got)
					var was []string
					for len(asked) > 0 {
						was = append(was, <-asked)
					}
					require.Equal(t, c.asked, was)
				})
			}
		})
	}
}

// BenchmarkFetch is one small request over a connection that is kept: made
// directly, by the client outside, and from spokes through their host sides,
// each of which makes so many that it is not slowed. The median is what is to be
// compared.
func BenchmarkFetch(b *testing.B) {
	r := start(b, false, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("hi")) })
	const times = 200
	outside := r.client(b, func(_ *egress.Config, h *egress.Host) { h.Plain = true })
	direct := &http.Client{Transport: &http.Transport{}}
	defer direct.CloseIdleConnections()
	b.Run("direct", func(b *testing.B) {
		var took []int64
		for b.Loop() {
			began := time.Now()
			_, _, err := fetch(b.Context(), direct, r.URL)
			took = append(took, time.Since(began).Nanoseconds())
			require.NoError(b, err)
		}
		b.ReportMetric(float64(median(took)), "median-ns")
	})
	b.Run("client", func(b *testing.B) {
		var took []int64
		for b.Loop() {
			began := time.Now()
			_, err := outside.Fetch(b.Context(), get("http://example.com/"))
			took = append(took, time.Since(began).Nanoseconds())
			require.NoError(b, err)
		}
		b.ReportMetric(float64(median(took)), "median-ns")
	})
	for name, l := range launchers(b) {
		b.Run("host-side/"+name, func(b *testing.B) {
			var took []int64
			for b.Loop() {
				do, end := hire(b, l, outside)
				got := do(errand{URL: "http://example.com/", Times: times})
				require.Equal(b, "hi", got.Body, got.Error)
				took = append(took, got.Nanos)
				end()
			}
			b.ReportMetric(float64(median(took)), "median-ns")
		})
	}
}

func fetch(ctx context.Context, client *http.Client, url string) (status int, body string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, "", err
	}
	res, err := client.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	return res.StatusCode, string(raw), err
}
