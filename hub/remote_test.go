package hub_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/hub"
	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/memory"
	"github.com/isolategpt/isolategpt/permission"
	"github.com/isolategpt/isolategpt/spoke"
)

// internet answers every request, and keeps them.
type internet struct {
	mu   sync.Mutex
	got  []spoke.HTTPRequest
	hook func(ctx context.Context) error
}

func (n *internet) Fetch(ctx context.Context, r spoke.HTTPRequest) (spoke.HTTPResponse, error) {
	n.mu.Lock()
	n.got = append(n.got, r)
	n.mu.Unlock()
	if n.hook != nil {
		if err := n.hook(ctx); err != nil {
			return spoke.HTTPResponse{}, err
		}
	}
	return spoke.HTTPResponse{Status: 200, Body: []byte("hello")}, nil
}

func (n *internet) urls() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	out := []string{}
	for _, r := range n.got {
		out = append(out, r.URL)
	}
	return out
}

// online is a siege whose rogue may reach hosts.
func online(t testing.TB, net *internet, play func(*peer), change ...func(*hub.Config)) *siege {
	return besiege(t, play, append([]func(*hub.Config){func(cfg *hub.Config) {
		cfg.HTTP = net
		cfg.Apps[0] = manifested{cfg.Apps[0], func(m *isc.Manifest) { m.Hosts = []string{"a.test", "b.test"} }}
	}}, change...)...)
}

func (p *peer) get(url string) error {
	_, err := p.http.Fetch(context.Background(), spoke.HTTPRequest{Method: "GET", URL: url})
	return err
}

// fetching plays a task in which these URLs are fetched one after another.
func fetching(errs *[]error, urls ...string) func(*peer) {
	return func(p *peer) {
		for p.task() {
			for _, u := range urls {
				*errs = append(*errs, p.get(u))
			}
			p.done(`{"text":"x"}`)
		}
	}
}

// TestARequestToAHostIsAskedAboutAsItIsSent is SendRemote of the consent page, and
// paper §IV-C: who, to which host, with exactly what.
func TestARequestToAHostIsAskedAboutAsItIsSent(t *testing.T) {
	net := &internet{}
	var body []byte
	s := online(t, net, func(p *peer) {
		p.task()
		res, err := p.http.Fetch(context.Background(), spoke.HTTPRequest{
			Method: "POST", URL: "https://a.test/x?q=1", Header: map[string][]string{"X-Note": {"<b>"}}, Body: []byte(`{"k":"v"}`),
		})
		require.NoError(t, err)
		body = res.Body
		p.done(`{"text":"x"}`)
	})
	s.person.answer = saysYes
	e := runs(t, s.Session, "go")
	require.NoError(t, e.err)
	require.Equal(t, "hello", string(body))
	require.Equal(t, []string{"send-remote"}, s.person.kinds())
	q := s.person.asked[0]
	require.Equal(t, "a.test", q.Host)
	require.Equal(t, isc.AppID("rogue"), q.From.ID)
	require.Equal(t, isc.AppID("rogue"), q.To.ID)
	require.Equal(t, isc.FunctionalityName("rogue.work"), q.Functionality)
	require.Equal(t, permission.InPlan, q.Plan)
	require.Equal(t, `{"body":"{\"k\":\"v\"}","header":{"X-Note":["<b>"]},"method":"POST","url":"https://a.test/x?q=1"}`, string(q.Payload))
	require.Contains(t, q.Label.Apps(), isc.AppID("rogue"))
	require.Contains(t, q.Offered, permission.AllowPermanent, "a routine request")
	require.Contains(t, e.events, hub.Event(hub.Fetched{App: "rogue", Host: "a.test", Status: 200, Size: 5}))
	var trail []string
	for _, r := range s.audit.Records() {
		if r.Event == "fetch" || r.Event == "fetched" {
			trail = append(trail, r.Event+" "+r.Detail+" "+r.Reason)
			require.Equal(t, isc.AppID("rogue"), r.App)
			if r.Event == "fetch" {
				require.Equal(t, isc.DigestOf(q.Payload), r.Digest)
			}
		}
	}
	require.Equal(t, []string{"fetch a.test ", "fetched a.test status 200"}, trail)
}

// TestAGrantForOneHostCoversNoOther: nor the same host without TLS, another app
// or another functionality.
func TestAGrantForOneHostCoversNoOther(t *testing.T) {
	net, errs := &internet{}, []error(nil)
	s := online(t, net, fetching(&errs, "https://a.test/1", "https://a.test/2", "https://b.test/1", "http://a.test/1", "https://b.test/2"))
	s.person.answer = func(r permission.Request) permission.Answer { return r.Answer(permission.AllowSession) }
	for range 2 {
		require.NoError(t, runs(t, s.Session, "go").err)
	}
	var hosts []string
	for _, r := range s.person.asked {
		hosts = append(hosts, r.Host)
	}
	require.Equal(t, []string{"a.test", "b.test", "http://a.test"}, hosts, "each once in a session")
	require.Len(t, net.urls(), 10)
	grants, err := s.Grants(t.Context())
	require.NoError(t, err)
	require.Len(t, grants, 3)
	for _, g := range grants { // taken back, it is asked again
		if g.Host == "b.test" {
			require.NoError(t, s.Revoke(t.Context(), g.ID))
		}
	}
	s.person.answer = yes()
	require.NoError(t, runs(t, s.Session, "go").err)
	require.Len(t, net.urls(), 13)
}

// TestWhatIsNotLetOutIsRefusedTheSame: whatever the reason, the spoke is told the
// same and nothing is sent.
func TestWhatIsNotLetOutIsRefusedTheSame(t *testing.T) {
	for name, c := range map[string]struct {
		url    string
		answer func(permission.Request) permission.Answer
		change func(*hub.Config)
	}{
		"denied":              {"https://a.test/", yes(), nil},
		"nobody to ask":       {"https://a.test/", nil, func(cfg *hub.Config) { cfg.Consent = nil }},
		"headless":            {"https://a.test/", saysYes, func(cfg *hub.Config) { cfg.Policy = permission.Headless() }},
		"not in the manifest": {"https://c.test/", saysYes, nil},
		"in another case":     {"https://A.test/", saysYes, nil},
		"a user in it":        {"https://a.test@c.test/", saysYes, nil},
		"a name in it":        {"https://me:secret@a.test/", saysYes, nil},
		"another scheme":      {"file://a.test/etc/passwd", saysYes, nil},
		"no URL":              {"https://a.test/\x7f", saysYes, nil},
		"no text":             {"https://a.test/?q=\xff", saysYes, nil},
		"no host":             {"https:///x", saysYes, nil},
		"over the limit":      {"https://a.test/", saysYes, func(cfg *hub.Config) { cfg.Limits.Bytes = 1 }},
		"not recorded": {"https://a.test/", saysYes, func(cfg *hub.Config) {
			cfg.Audit = auditing(func(_ context.Context, r hub.Record) error {
				if r.Event == "fetch" {
					return errFault
				}
				return nil
			})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			net := &internet{}
			var got error
			s := online(t, net, func(p *peer) {
				p.task()
				_, got = p.http.Fetch(context.Background(), spoke.HTTPRequest{Method: "POST", URL: c.url, Body: []byte("secret")})
				p.done(`{"text":"x"}`)
			}, func(cfg *hub.Config) {
				if c.change != nil {
					c.change(cfg)
				}
			})
			s.person.answer = c.answer
			_ = runs(t, s.Session, "go")
			require.Equal(t, spoke.ErrRefused, got)
			require.Empty(t, net.urls())
		})
	}
}

// TestAFailedRequestTellsTheSpokeNothing: a cause may hold addresses and keys.
func TestAFailedRequestTellsTheSpokeNothing(t *testing.T) {
	for name, c := range map[string]struct {
		hook    func(context.Context) error
		refused bool
	}{
		"fails":   {func(context.Context) error { return errors.New("dial 10.0.0.7 with key sk-secret") }, false},
		"panics":  {func(context.Context) error { panic("key sk-secret") }, false},
		"refuses": {func(context.Context) error { return spoke.ErrRefused }, true},
	} {
		t.Run(name, func(t *testing.T) {
			var errs []error
			s := online(t, &internet{hook: c.hook}, fetching(&errs, "https://a.test/"))
			s.person.answer = saysYes
			e := runs(t, s.Session, "go")
			require.NoError(t, e.err)
			require.Len(t, errs, 1)
			require.Equal(t, c.refused, errors.Is(errs[0], spoke.ErrRefused))
			require.NotContains(t, errs[0].Error(), "secret")
			require.Contains(t, e.events, hub.Event(hub.Fetched{App: "rogue", Host: "a.test"}))
			require.Equal(t, isc.StatusDone, e.step(t, "r").Status)
		})
	}
}

// TestNoHostWithoutATask: between tasks, after them, and without a manifest that
// names hosts, or a program that has HTTP, there is none.
func TestNoHostWithoutATask(t *testing.T) {
	net := &internet{}
	var kept spoke.Fetcher
	var before error
	s := online(t, net, func(p *peer) {
		kept, before = p.http, p.get("https://a.test/before")
		for p.task() {
			p.done(`{"text":"x"}`)
		}
	})
	s.person.answer = saysYes
	require.NoError(t, runs(t, s.Session, "go").err)
	_, err := kept.Fetch(t.Context(), spoke.HTTPRequest{Method: "GET", URL: "https://a.test/after"})
	require.Equal(t, spoke.ErrRefused, err)
	if before != nil { // it may have been fast enough to find the task begun
		require.Equal(t, spoke.ErrRefused, before)
		require.Empty(t, net.urls())
	}

	var none []bool
	for _, change := range []func(*hub.Config){
		func(cfg *hub.Config) { cfg.HTTP = nil },
		func(cfg *hub.Config) { cfg.Apps[0] = rogue() },
	} {
		s := online(t, net, func(p *peer) {
			none = append(none, p.http == nil)
			p.task()
			p.done(`{"text":"x"}`)
		}, change)
		require.NoError(t, runs(t, s.Session, "go").err)
	}
	require.Equal(t, []bool{true, true}, none)
}

// TestPrivateDataOnItsWayOutIsWarnedOf is the rule of two for remote hosts: the
// label of what the task was given goes along, and what was approved before the
// data was private is asked again.
func TestPrivateDataOnItsWayOutIsWarnedOf(t *testing.T) {
	mem := memory.InMemory()
	remember(t, mem, "home", `"Main Street 1"`)
	net := &internet{}
	s := online(t, net, func(p *peer) {
		p.task()
		require.NoError(t, p.get("https://a.test/1"))
		require.NoError(t, p.get("https://a.test/2"))
		p.ask(isc.NeedData{Fields: []isc.DataField{{Name: "home", Purpose: "x"}}})
		require.NoError(t, p.get("https://a.test/home"))
		p.done(`{"text":"x"}`)
	}, func(cfg *hub.Config) { cfg.Memory = mem })
	s.person.answer = func(r permission.Request) permission.Answer { return r.Answer(permission.AllowSession) }
	require.NoError(t, runs(t, s.Session, "go").err)
	require.Equal(t, []string{"send-remote", "share-data", "send-remote"}, s.person.kinds())
	require.False(t, warned(s.person.asked[0], permission.CodeSensitiveSource))
	require.True(t, warned(s.person.asked[2], permission.CodeSensitiveSource))
	require.True(t, warned(s.person.asked[2], permission.CodeRuleOfTwo))
	require.NotContains(t, s.person.asked[2].Offered, permission.AllowPermanent)
}

// TestABodyThatCannotBeShownIsWarnedOf: rule 11 of the consent page.
func TestABodyThatCannotBeShownIsWarnedOf(t *testing.T) {
	for name, body := range map[string][]byte{"long": []byte(strings.Repeat("x", 40_000)), "no text": {0xff, 0xfe, 0}} {
		t.Run(name, func(t *testing.T) {
			net := &internet{}
			s := online(t, net, func(p *peer) {
				p.task()
				_, err := p.http.Fetch(context.Background(), spoke.HTTPRequest{Method: "PUT", URL: "https://a.test/", Body: body})
				require.NoError(t, err)
				p.done(`{"text":"x"}`)
			})
			s.person.answer = saysYes
			require.NoError(t, runs(t, s.Session, "go").err)
			q := s.person.asked[0]
			require.True(t, warned(q, permission.CodeNotShownInFull))
			require.NotContains(t, q.Offered, permission.AllowPermanent)
			var shown struct {
				Digest string `json:"body_digest"`
				Bytes  int    `json:"body_bytes"`
			}
			require.NoError(t, json.Unmarshal(q.Payload, &shown))
			require.Equal(t, isc.DigestOf(body).String(), shown.Digest)
			require.Equal(t, len(body), shown.Bytes)
			require.Equal(t, body, net.got[0].Body)
		})
	}
}

// TestARequestInATaskThatThePlanDoesNotExpectIsWarnedOf: another app asked for it.
func TestARequestInATaskThatThePlanDoesNotExpectIsWarnedOf(t *testing.T) {
	net := &internet{}
	var errs []error
	asks := playedOnly{isc.Manifest{ID: "asks", Name: "Asks", Wants: []isc.FunctionalityName{"rogue.work"}, Functionalities: []isc.Functionality{{
		Name: "asks.work", Request: isc.MustFormat(`{"type":"object","additionalProperties":false}`), Response: isc.MustFormat(`{"type":"object","additionalProperties":false}`), Effect: isc.Read,
	}}}}
	s := online(t, net, nil, func(cfg *hub.Config) {
		cfg.Apps = append(cfg.Apps, asks)
		cfg.Launcher = stage{plays: map[isc.AppID]func(*peer){
			"rogue": fetching(&errs, "https://a.test/"),
			"asks": func(p *peer) {
				p.task()
				p.ask(use(p.probe("rogue.work"), `{"text":"x"}`))
				p.done(`{}`)
			},
		}}
		cfg.Planner = plans(map[string]string{"go": `{"steps":[{"id":"s","do":"call","functionality":"asks.work","args":{}}],"answer":{"step":"s","pointer":""}}`})
	})
	s.person.answer = saysYes
	require.NoError(t, runs(t, s.Session, "go").err)
	require.Len(t, net.urls(), 1)
	for _, r := range s.person.asked {
		if r.Kind == permission.SendRemote {
			require.Equal(t, permission.NotInPlan, r.Plan)
			require.True(t, warned(r, permission.CodeNotInPlan))
		}
	}
}

// TestLimitFetches: beyond it everything is refused unseen, in the whole run; and
// no task has more than its own share.
func TestLimitFetches(t *testing.T) {
	for name, limits := range map[string]hub.Limits{"of the run": {Fetches: 3}, "of the task": {TaskCalls: 3}} {
		t.Run(name, func(t *testing.T) {
			net, errs := &internet{}, []error(nil)
			play := fetching(&errs, "https://a.test/1", "https://a.test/2", "https://c.test/", "https://a.test/3")
			s := online(t, net, play, func(cfg *hub.Config) { cfg.Limits = limits })
			s.person.answer = saysYes
			require.NoError(t, runs(t, s.Session, "go").err)
			require.Equal(t, []string{"https://a.test/1", "https://a.test/2"}, net.urls(), "the third was none that may be")
			require.Len(t, s.person.kinds(), 2)
		})
	}
}

// TestWhoWaitsForAPersonOrAHostIsNotSilent: the limit of silence stands still
// while a request is asked about and sent, and begins anew; the person's time and
// the run's do not.
func TestWhoWaitsForAPersonOrAHostIsNotSilent(t *testing.T) {
	for name, c := range map[string]struct {
		person, host, after time.Duration
		want                isc.Status
		refused             bool
		took                time.Duration // until the peer ended; zero: the run ends over its wall time
	}{
		"a slow person":            {4 * time.Minute, 0, 0, isc.StatusDone, false, 4 * time.Minute},
		"a slow host":              {0, 6 * time.Minute, 0, isc.StatusDone, false, 6 * time.Minute},
		"both":                     {4 * time.Minute, 4 * time.Minute, 50 * time.Second, isc.StatusDone, false, 8*time.Minute + 50*time.Second},
		"silence afterwards":       {4 * time.Minute, 0, 2 * time.Minute, isc.StatusFailed, false, 6 * time.Minute},
		"a person who is too slow": {20 * time.Minute, 0, 0, isc.StatusDone, true, 5 * time.Minute},
		"a host that never ends":   {0, time.Hour, 0, 0, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				waits := func(ctx context.Context, d time.Duration) error {
					select {
					case <-time.After(d):
						return nil
					case <-ctx.Done():
						return context.Cause(ctx)
					}
				}
				net := &internet{hook: func(ctx context.Context) error { return waits(ctx, c.host) }}
				var refused bool
				s := online(t, net, func(p *peer) {
					p.task()
					refused = errors.Is(p.get("https://a.test/"), spoke.ErrRefused)
					time.Sleep(c.after)
					p.done(`{"text":"x"}`)
				}, func(cfg *hub.Config) {
					cfg.Limits.Silence, cfg.Limits.Prompt = time.Minute, 5*time.Minute
					cfg.Consent = permission.PrompterFunc(func(ctx context.Context, r permission.Request) (permission.Answer, error) {
						return r.Answer(permission.AllowOnce), waits(ctx, c.person)
					})
				})
				start := time.Now()
				a, err := s.Ask(context.Background(), "go")
				if c.took == 0 {
					require.ErrorIs(t, err, hub.ErrBudget)
					require.Equal(t, 10*time.Minute, time.Since(start))
					return
				}
				require.NoError(t, err)
				require.Equal(t, c.took, time.Since(start))
				require.Equal(t, c.want.String(), a.Steps[0].Status.String())
				require.Equal(t, c.refused, refused)
			})
		})
	}
}

// TestARequestEndsWithItsTaskAndItsRun: what is under way is ended and waited
// for, and tells a run that is over nothing.
func TestARequestEndsWithItsTaskAndItsRun(t *testing.T) {
	for name, c := range map[string]struct {
		asking bool // it is the person who is waited for
		ends   func(p *peer, cancel context.CancelFunc)
	}{
		"the host, result":   {false, func(p *peer, _ context.CancelFunc) { p.done(`{"text":"x"}`) }},
		"the host, crash":    {false, func(p *peer, _ context.CancelFunc) { _ = p.raw.Close() }},
		"the host, cancel":   {false, func(_ *peer, cancel context.CancelFunc) { cancel() }},
		"the person, result": {true, func(p *peer, _ context.CancelFunc) { p.done(`{"text":"x"}`) }},
		"the person, crash":  {true, func(p *peer, _ context.CancelFunc) { _ = p.raw.Close() }},
		"the person, cancel": {true, func(_ *peer, cancel context.CancelFunc) { cancel() }},
	} {
		t.Run(name, func(t *testing.T) {
			var waiting atomic.Int32
			waits := func(ctx context.Context, really bool) error {
				if really {
					waiting.Add(1)
					<-ctx.Done()
					waiting.Add(-1)
					return context.Cause(ctx)
				}
				return nil
			}
			under := make(chan struct{})
			net := &internet{hook: func(ctx context.Context) error {
				if !c.asking {
					close(under)
				}
				return waits(ctx, !c.asking)
			}}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s := online(t, net, func(p *peer) {
				p.task()
				var all sync.WaitGroup
				all.Go(func() { _ = p.get("https://a.test/") })
				<-under
				c.ends(p, cancel)
				all.Wait()
			}, func(cfg *hub.Config) {
				cfg.Consent = permission.PrompterFunc(func(ctx context.Context, r permission.Request) (permission.Answer, error) {
					if c.asking {
						close(under)
					}
					return r.Answer(permission.AllowOnce), waits(ctx, c.asking)
				})
			})
			for range s.Run(ctx, "go") {
			}
			require.Zero(t, waiting.Load())
		})
	}
}

// TestRequestsOfOneSpokeAtOnceAreBounded: a host side that lets a spoke ask for
// many at once is held by the hub.
func TestRequestsOfOneSpokeAtOnceAreBounded(t *testing.T) {
	release := make(chan struct{})
	net := &internet{hook: func(ctx context.Context) error {
		select {
		case <-release:
		case <-ctx.Done():
		}
		return nil
	}}
	var refused, served atomic.Int32
	s := online(t, net, func(p *peer) {
		p.task()
		var all sync.WaitGroup
		for range 40 {
			all.Go(func() {
				if p.get("https://a.test/") != nil {
					if refused.Add(1) == 32 {
						close(release)
					}
					return
				}
				served.Add(1)
			})
		}
		all.Wait()
		p.done(`{"text":"x"}`)
	}, func(cfg *hub.Config) { cfg.Policy = permission.InsecureAllowAll() })
	require.NoError(t, runs(t, s.Session, "go").err)
	require.EqualValues(t, 8, served.Load())
	require.EqualValues(t, 32, refused.Load())
}
