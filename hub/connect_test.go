package hub_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/hub"
	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/permission"
	"github.com/isolategpt/isolategpt/spoke"
)

func (p *peer) connect(host string) error {
	return p.http.(spoke.Authorizer).Authorize(context.Background(), host)
}

// TestAConnectionIsAskedAboutByItsHost is SendRemote for programs with a client of
// their own: what is sent is not seen, and the dialog says so. Nothing is sent by
// the hub.
func TestAConnectionIsAskedAboutByItsHost(t *testing.T) {
	net := &internet{}
	var errs []error
	s := online(t, net, func(p *peer) {
		for p.task() {
			for _, host := range []string{"a.test", "a.test", "http://a.test", "b.test", "c.test", "A.test", "a.test:22", "a.test/x", "u@a.test", "https://a.test", ""} {
				errs = append(errs, p.connect(host))
			}
			p.done(`{"text":"x"}`)
		}
	})
	s.person.answer = func(r permission.Request) permission.Answer {
		if r.Host == "b.test" {
			return r.Answer(permission.Deny)
		}
		return r.Answer(permission.AllowSession)
	}
	e := runs(t, s.Session, "go")
	require.NoError(t, e.err)
	require.Empty(t, net.urls())
	var let []bool
	for _, err := range errs {
		let = append(let, err == nil)
		if err != nil {
			require.Equal(t, spoke.ErrRefused, err)
		}
	}
	require.Equal(t, []bool{true, true, true, false, false, false, false, false, false, false, false}, let)
	var hosts []string
	for _, r := range s.person.asked {
		hosts = append(hosts, r.Host)
		require.True(t, warned(r, permission.CodeNotShownInFull))
		require.NotContains(t, r.Offered, permission.AllowPermanent)
	}
	require.Equal(t, []string{"a.test", "http://a.test", "b.test"}, hosts)
	require.Equal(t, `{"method":"CONNECT","url":"https://a.test/"}`, string(s.person.asked[0].Payload))
	require.Equal(t, `{"method":"CONNECT","url":"http://a.test/"}`, string(s.person.asked[1].Payload))
	require.Contains(t, e.events, hub.Event(hub.Fetched{App: "rogue", Host: "http://a.test"}))
	fetches := 0
	for _, r := range s.audit.Records() {
		if r.Event == "fetch" {
			fetches++
			require.Equal(t, isc.AppID("rogue"), r.App)
		}
	}
	require.Equal(t, 3, fetches)
}

func TestNoConnectionWithoutATask(t *testing.T) {
	var kept spoke.Authorizer
	s := online(t, &internet{}, func(p *peer) {
		kept = p.http.(spoke.Authorizer)
		for p.task() {
			p.done(`{"text":"x"}`)
		}
	})
	s.person.answer = saysYes
	require.NoError(t, runs(t, s.Session, "go").err)
	require.Equal(t, spoke.ErrRefused, kept.Authorize(t.Context(), "a.test"))
	require.Empty(t, s.person.kinds())
}

// TestConnectionsAreCounted like requests.
func TestConnectionsAreCounted(t *testing.T) {
	var errs []error
	s := online(t, &internet{}, func(p *peer) {
		p.task()
		errs = append(errs, p.connect("a.test"), p.get("https://a.test/"), p.connect("a.test"))
		p.done(`{"text":"x"}`)
	}, func(cfg *hub.Config) { cfg.Limits.Fetches = 2 })
	s.person.answer = saysYes
	require.NoError(t, runs(t, s.Session, "go").err)
	require.Equal(t, []error{nil, nil, spoke.ErrRefused}, errs)
}
