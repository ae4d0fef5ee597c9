package permission_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/permission"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ask is a policy that asks everything, with grants.
var ask = permission.PolicyFunc(func(permission.Question) permission.Ruling {
	return permission.Ruling{Effect: permission.RuleAsk, Rule: "ask"}
})

func question() permission.Question {
	return permission.Question{
		Kind: permission.Collaborate, From: permission.Party{ID: "app.travel", Name: "Travel Mate"},
		To: permission.Party{ID: "app.mail", Name: "Mail"}, Functionality: "search_mail", Effect: isc.Read,
		Pin: isc.DigestOf([]byte("v1")), Payload: json.RawMessage(`{"folder":"inbox","q":"hotel"}`),
		Label: isc.UserLabel(), Plan: permission.InPlan, Query: "book a trip",
		Fields: []permission.PayloadField{
			{Pointer: "/folder", Label: isc.UserLabel(), Role: isc.Destination},
			{Pointer: "/q", Label: isc.UserLabel(), Role: isc.Payload},
		},
	}
}

// person answers as told and counts how often.
type person struct {
	asked    atomic.Int32
	decision permission.Decision
	last     atomic.Pointer[permission.Request]
}

func (p *person) Prompt(_ context.Context, r permission.Request) (permission.Answer, error) {
	p.asked.Add(1)
	p.last.Store(&r)
	if r.Kind == permission.SelectApp && p.decision != permission.Deny {
		return r.Choose(p.decision, r.Options[len(r.Options)-1].ID), nil
	}
	return r.Answer(p.decision), nil
}

func gate(t testing.TB, p permission.ConsentPrompter, policy permission.Policy, store permission.Store) *permission.Gate {
	if store == nil {
		store = permission.InMemoryStore()
	}
	g, err := permission.NewGate(permission.Config{Prompter: p, Policy: policy, Store: store})
	require.NoError(t, err)
	return g
}

func denied(t testing.TB, v permission.Verdict, reason string) {
	t.Helper()
	require.False(t, v.Allowed(), "%+v", v)
	require.Contains(t, v.Reason, reason)
}

func TestNewGateHasNoSilentDefault(t *testing.T) {
	for _, cfg := range []permission.Config{
		{}, {Store: permission.InMemoryStore()}, {Policy: ask},
		{Store: permission.InMemoryStore(), Policy: ask, Timeout: -1},
	} {
		_, err := permission.NewGate(cfg)
		require.Error(t, err)
	}
}

func TestZeroValuesDeny(t *testing.T) {
	require.False(t, permission.Verdict{}.Allowed())
	require.False(t, permission.Verdict{Decision: 9}.Allowed())
	run := gate(t, &person{decision: permission.AllowOnce}, permission.InsecureAllowAll(), nil).Session("alice").Run(permission.RunConfig{})
	denied(t, run.Check(t.Context(), permission.Question{}), "unknown kind")
}

// What an adversarial or broken prompter does denies, each with its own reason.
func TestP3AdversarialPrompters(t *testing.T) {
	var previous permission.Request
	for name, tt := range map[string]struct {
		prompt permission.PrompterFunc
		reason string
	}{
		"zero answer": {func(context.Context, permission.Request) (permission.Answer, error) { return permission.Answer{}, nil }, "gave no answer"},
		"error": {func(context.Context, permission.Request) (permission.Answer, error) {
			return permission.Answer{}, errors.New("no ui")
		}, "no ui"},
		"error beside an allow": {func(_ context.Context, r permission.Request) (permission.Answer, error) {
			return r.Answer(permission.AllowOnce), errors.New("no ui")
		}, "no ui"},
		"panic": {func(context.Context, permission.Request) (permission.Answer, error) { panic("boom") }, "the prompter panicked"},
		"foreign": {func(_ context.Context, r permission.Request) (permission.Answer, error) {
			r.ID = "guessed"
			return r.Answer(permission.AllowOnce), nil
		}, "to another request"},
		"no id": {func(_ context.Context, r permission.Request) (permission.Answer, error) {
			return permission.Answer{Decision: permission.AllowOnce, Digest: r.Digest}, nil
		}, "to another request"},
		"double": {func(context.Context, permission.Request) (permission.Answer, error) {
			return previous.Answer(permission.AllowOnce), nil
		}, "request that is over"},
		"other digest": {func(_ context.Context, r permission.Request) (permission.Answer, error) {
			r.Digest[0]++
			return r.Answer(permission.AllowOnce), nil
		}, "not to what was shown"},
		"not offered": {func(_ context.Context, r permission.Request) (permission.Answer, error) { return r.Answer(77), nil }, "not one of those offered"},
		"choice out of place": {func(_ context.Context, r permission.Request) (permission.Answer, error) {
			return r.Choose(permission.AllowOnce, "app.evil"), nil
		}, "not an option"},
		"late": {func(ctx context.Context, r permission.Request) (permission.Answer, error) {
			<-ctx.Done()
			return r.Answer(permission.AllowOnce), nil
		}, "timeout"},
		"denial": {func(_ context.Context, r permission.Request) (permission.Answer, error) {
			a := r.Answer(permission.Deny)
			a.Reason = "not today"
			return a, nil
		}, "denied by the user: not today"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				first := true
				g := gate(t, permission.PrompterFunc(func(ctx context.Context, r permission.Request) (permission.Answer, error) {
					if first {
						first, previous = false, r
						return r.Answer(permission.AllowOnce), nil
					}
					return tt.prompt(ctx, r)
				}), ask, nil)
				run := g.Session("alice").Run(permission.RunConfig{})
				require.True(t, run.Check(t.Context(), question()).Allowed())
				v := run.Check(t.Context(), question())
				denied(t, v, tt.reason)
				require.NotNil(t, v.Request)
			})
		})
	}
}

func TestP3NoPrompterDeniesAtOnce(t *testing.T) {
	v := gate(t, nil, permission.Balanced(), nil).Session("alice").Run(permission.RunConfig{}).Check(t.Context(), question())
	denied(t, v, "no prompter configured")
	require.Equal(t, "gate", v.By)
}

func TestP3PolicyAndStoreFailuresAllowNothing(t *testing.T) {
	panics := permission.PolicyFunc(func(permission.Question) permission.Ruling { panic("boom") })
	odd := permission.PolicyFunc(func(permission.Question) permission.Ruling { return permission.Ruling{Effect: 200} })
	zero := permission.PolicyFunc(func(permission.Question) permission.Ruling { return permission.Ruling{} })
	for _, policy := range []permission.Policy{panics, odd, zero} {
		p := &person{decision: permission.AllowOnce}
		denied(t, gate(t, p, policy, nil).Session("alice").Run(permission.RunConfig{}).Check(t.Context(), question()), "polic")
		require.Zero(t, p.asked.Load(), "a denial of the policy is never asked")
	}
	for _, store := range []permission.Store{brokenStore{}, brokenStore{panics: true}} {
		p := &person{decision: permission.AllowPermanent}
		run := gate(t, p, ask, store).Session("alice").Run(permission.RunConfig{})
		for range 2 {
			v := run.Check(t.Context(), question())
			require.Equal(t, permission.AllowOnce, v.Decision, "what cannot be stored is allowed this once")
			require.Contains(t, v.Reason, "could not be stored")
		}
		require.EqualValues(t, 2, p.asked.Load())
	}
}

type brokenStore struct{ panics bool }

func (s brokenStore) fail() error {
	if s.panics {
		panic("store")
	}
	return errors.New("disk full")
}

func (s brokenStore) Grants(context.Context, string) ([]permission.Grant, error) {
	return nil, s.fail()
}
func (s brokenStore) Put(context.Context, permission.Grant) error  { return s.fail() }
func (s brokenStore) Revoke(context.Context, string, string) error { return s.fail() }

func TestP3MalformedQuestionsDenyUnderAnyPolicy(t *testing.T) {
	run := gate(t, nil, permission.InsecureAllowAll(), nil).Session("alice").Run(permission.RunConfig{})
	require.True(t, run.Check(t.Context(), question()).Allowed())
	for name, change := range map[string]func(*permission.Question){
		"kind":             func(q *permission.Question) { q.Kind = 77 },
		"effect":           func(q *permission.Question) { q.Effect = 77 },
		"plan":             func(q *permission.Question) { q.Plan = 77 },
		"role":             func(q *permission.Question) { q.Fields[0].Role = 0 },
		"sender":           func(q *permission.Question) { q.From.ID = "" },
		"malformed sender": func(q *permission.Question) { q.From.ID = "App Travel" },
		"receiver":         func(q *permission.Question) { q.To.ID = "" },
		"functionality":    func(q *permission.Question) { q.Functionality = "" },
		"no payload":       func(q *permission.Question) { q.Payload = nil },
		"spaced payload":   func(q *permission.Question) { q.Payload = json.RawMessage(`{"folder": "inbox"}`) },
		"double key":       func(q *permission.Question) { q.Payload = json.RawMessage(`{"a":1,"a":2}`) },
		"broken UTF-8":     func(q *permission.Question) { q.To.Name = "\xff" },
		"warning":          func(q *permission.Question) { q.Warnings = []permission.Code{"SAFE now"} },
		"host":             func(q *permission.Question) { q.Host = "\u0430pple.com" },
	} {
		q := question()
		change(&q)
		require.False(t, run.Check(t.Context(), q).Allowed(), name)
	}
	denied(t, gate(t, nil, permission.InsecureAllowAll(), nil).Session("").Run(permission.RunConfig{}).Check(t.Context(), question()), "no user")
}

func TestD1WhatIsShownCannotBeChangedByThePrompter(t *testing.T) {
	q := question()
	var stored permission.Request
	g := gate(t, permission.PrompterFunc(func(_ context.Context, r permission.Request) (permission.Answer, error) {
		ans := r.Answer(permission.AllowSession)
		copy(r.Payload, `{"folder":"spam!"`)
		r.Fields[0].Pointer, r.Offered[0], r.Assessment = "/q", permission.AllowPermanent, nil
		copy(q.Payload, `{"folder":"xxxxx"`) // and the asker changes its bytes meanwhile
		return ans, nil
	}), ask, nil)
	s := g.Session("alice")
	v := s.Run(permission.RunConfig{OnAsk: func(r permission.Request) { stored = r; r.Payload[2] = 'X' }}).Check(t.Context(), q)
	require.True(t, v.Allowed())
	require.Equal(t, `{"folder":"inbox","q":"hotel"}`, string(v.Request.Payload), "the verdict says what was approved")
	require.Equal(t, stored.Digest, v.Request.Digest)
	grants, err := s.Grants(t.Context())
	require.NoError(t, err)
	require.Equal(t, `"inbox"`, string(grants[0].Targets["/folder"]))
	require.False(t, gate(t, nil, ask, nil).Session("alice").Run(permission.RunConfig{}).Check(t.Context(), q).Allowed())
}

func TestD3LateAnswerAfterTimeoutAndHangingPrompter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		g := gate(t, permission.PrompterFunc(func(_ context.Context, r permission.Request) (permission.Answer, error) {
			<-release // ignores its context
			return r.Answer(permission.AllowSession), nil
		}), ask, nil)
		s := g.Session("alice")
		start := time.Now()
		denied(t, s.Run(permission.RunConfig{}).Check(t.Context(), question()), "timeout")
		require.Less(t, time.Since(start), 3*time.Minute)
		denied(t, s.Run(permission.RunConfig{}).Check(t.Context(), question()), "still busy")
		close(release)
		synctest.Wait()
		grants, err := s.Grants(t.Context())
		require.NoError(t, err)
		require.Empty(t, grants, "the late answer counts for nothing")
		require.True(t, s.Run(permission.RunConfig{}).Check(t.Context(), question()).Allowed(), "the prompter is back")
	})
}

func TestD3CancellationDenies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gate(t, permission.PrompterFunc(func(ctx context.Context, r permission.Request) (permission.Answer, error) {
			<-ctx.Done()
			return r.Answer(permission.AllowOnce), nil
		}), ask, nil)
		ctx, cancel := context.WithCancelCause(t.Context())
		var wg sync.WaitGroup
		for range 3 { // one is asked, two wait behind it
			wg.Go(func() { denied(t, g.Session("alice").Run(permission.RunConfig{}).Check(ctx, question()), "went home") })
		}
		synctest.Wait()
		cancel(errors.New("went home"))
		wg.Wait()
	})
}

func TestD4DenialIsRememberedAndBudgetBreaks(t *testing.T) {
	p := &person{}
	s := gate(t, p, ask, nil).Session("alice")
	run := s.Run(permission.RunConfig{MaxPrompts: 5})
	denied(t, run.Check(t.Context(), question()), "by the user")
	reworded := question()
	reworded.Purpose, reworded.From.Name = "please", "Another"
	denied(t, run.Check(t.Context(), reworded), "denied before in this run")
	require.EqualValues(t, 1, p.asked.Load())

	varied := func(i int) permission.Question {
		q := question()
		q.Payload = json.RawMessage(fmt.Sprintf(`{"folder":"inbox","q":"%d"}`, i))
		return q
	}
	for i := range 10 {
		require.False(t, run.Check(t.Context(), varied(i)).Allowed())
	}
	require.EqualValues(t, 3, p.asked.Load(), "one act is not asked for ever with small changes")

	denied(t, s.Run(permission.RunConfig{}).Check(t.Context(), question()), "by the user")
	require.Contains(t, codes(p.last.Load()), permission.CodeRepeatedAfterDenial)
	require.NotContains(t, p.last.Load().Offered, permission.AllowPermanent)

	p = &person{decision: permission.AllowOnce}
	run = gate(t, p, ask, nil).Session("alice").Run(permission.RunConfig{MaxPrompts: 2})
	for i := range 2 {
		require.True(t, run.Check(t.Context(), varied(i)).Allowed())
	}
	for i := range 3 {
		denied(t, run.Check(t.Context(), varied(i)), "as often as it may")
	}
	require.EqualValues(t, 2, p.asked.Load())
}

func codes(r *permission.Request) (out []permission.Code) {
	for _, f := range r.Assessment {
		out = append(out, f.Code)
	}
	return out
}

func TestD5NothingPermanentForWhatCannotBeUndone(t *testing.T) {
	base := question()
	for name, change := range map[string]func(*permission.Question){
		"irreversible":             func(q *permission.Question) { q.Kind = permission.Irreversible },
		"irreversible by effect":   func(q *permission.Question) { q.Effect = isc.Irreversible },
		"change that cannot be un": func(q *permission.Question) { q.Kind, q.Effect = permission.Change, isc.Irreversible },
		"install":                  func(q *permission.Question) { q.Kind = permission.InstallApp },
		"plan":                     func(q *permission.Question) { q.Kind = permission.ApprovePlan },
	} {
		for _, lifetime := range []permission.Decision{permission.AllowSession, permission.AllowPermanent} {
			q := base
			change(&q)
			p := &person{decision: lifetime}
			s := gate(t, p, ask, nil).Session("alice")
			denied(t, s.Run(permission.RunConfig{}).Check(t.Context(), q), "not one of those offered")
			require.Equal(t, []permission.Decision{permission.Deny, permission.AllowOnce}, p.last.Load().Offered, name)
			require.NotEmpty(t, p.last.Load().WithheldBecause)
			grants, _ := s.Grants(t.Context())
			require.Empty(t, grants)
		}
	}
}

// A store may say what it will: an impossible grant does not count.
func TestD5ForgedGrantsDoNotCount(t *testing.T) {
	q := question()
	q.Kind = permission.Irreversible
	forged := permission.Grant{ID: "g", User: "alice", Kind: permission.Irreversible, Caller: q.From.ID, Provider: q.To.ID,
		Functionality: q.Functionality, Pin: q.Pin, Targets: map[string]json.RawMessage{"/folder": json.RawMessage(`"inbox"`)}, Decision: permission.AllowPermanent}
	p := &person{}
	denied(t, gate(t, p, ask, fixedStore{forged}).Session("alice").Run(permission.RunConfig{}).Check(t.Context(), q), "by the user")
	q = question()
	for _, change := range []func(*permission.Grant){
		func(g *permission.Grant) { g.Decision = permission.AllowSession },
		func(g *permission.Grant) { g.User = "bob" },
		func(g *permission.Grant) { g.ID = "" },
		func(g *permission.Grant) { g.Pin = isc.Digest{} },
		func(g *permission.Grant) { g.Targets = nil },
	} {
		g := forged
		g.Kind = permission.Collaborate
		require.True(t, gate(t, p, ask, fixedStore{g}).Session("alice").Run(permission.RunConfig{}).Check(t.Context(), q).Allowed())
		change(&g)
		denied(t, gate(t, p, ask, fixedStore{g}).Session("alice").Run(permission.RunConfig{}).Check(t.Context(), q), "by the user")
	}
}

type fixedStore []permission.Grant

func (s fixedStore) Grants(context.Context, string) ([]permission.Grant, error) { return s, nil }
func (s fixedStore) Put(context.Context, permission.Grant) error                { return errors.New("fixed") }
func (s fixedStore) Revoke(context.Context, string, string) error               { return errors.New("fixed") }

func TestD6AGrantCoversExactlyWhatItWasGivenFor(t *testing.T) {
	for _, lifetime := range []permission.Decision{permission.AllowSession, permission.AllowPermanent} {
		p := &person{decision: lifetime}
		g := gate(t, p, ask, nil)
		s := g.Session("alice")
		require.True(t, s.Run(permission.RunConfig{}).Check(t.Context(), question()).Allowed())
		p.decision = permission.Deny

		same := question()
		same.Payload = json.RawMessage(`{"folder":"inbox","q":"other text"}`)
		v := s.Run(permission.RunConfig{}).Check(t.Context(), same)
		require.True(t, v.Allowed(), "a payload field is not part of the grant")
		require.Equal(t, "grant", v.By)
		for name, change := range map[string]func(*permission.Question){
			"target":       func(q *permission.Question) { q.Payload = json.RawMessage(`{"folder":"secret","q":"hotel"}`) },
			"more targets": func(q *permission.Question) { q.Fields[1].Role = isc.Record },
			"fewer":        func(q *permission.Question) { q.Fields = q.Fields[1:] },
			"caller":       func(q *permission.Question) { q.From.ID = "app.other" },
			"provider":     func(q *permission.Question) { q.To.ID = "app.other" },
			"function":     func(q *permission.Question) { q.Functionality = "read_mail" },
			"host":         func(q *permission.Question) { q.Host = "a.test" },
			"kind":         func(q *permission.Question) { q.Kind = permission.Deliver },
			"new version":  func(q *permission.Question) { q.Pin = isc.DigestOf([]byte("v2")) },
			"unpinned":     func(q *permission.Question) { q.Pin = isc.Digest{} },
		} {
			q := question()
			change(&q)
			require.False(t, s.Run(permission.RunConfig{}).Check(t.Context(), q).Allowed(), name)
		}
		other := g.Session("bob").Run(permission.RunConfig{}).Check(t.Context(), question())
		require.False(t, other.Allowed(), "C8: no grant crosses users")
		again := g.Session("alice").Run(permission.RunConfig{}).Check(t.Context(), question())
		require.Equal(t, lifetime == permission.AllowPermanent, again.Allowed(), "a session grant ends with its session")
	}
}

// Case 23: a changed definition suspends the grant and does not delete it.
func TestD6ManifestChangeSuspends(t *testing.T) {
	p := &person{decision: permission.AllowPermanent}
	s := gate(t, p, ask, nil).Session("alice")
	require.True(t, s.Run(permission.RunConfig{}).Check(t.Context(), question()).Allowed())
	p.decision = permission.Deny
	changed := question()
	changed.Pin = isc.DigestOf([]byte("v2"))
	denied(t, s.Run(permission.RunConfig{}).Check(t.Context(), changed), "by the user")
	require.Contains(t, codes(p.last.Load()), permission.CodeManifestChanged)
	require.NotContains(t, p.last.Load().Offered, permission.AllowPermanent)
	require.True(t, s.Run(permission.RunConfig{}).Check(t.Context(), question()).Allowed(), "the old definition is back")
}

func TestD6RevocationAndClosingCountAtOnce(t *testing.T) {
	for _, lifetime := range []permission.Decision{permission.AllowSession, permission.AllowPermanent} {
		p := &person{decision: lifetime}
		s := gate(t, p, ask, nil).Session("alice")
		run := s.Run(permission.RunConfig{})
		require.True(t, run.Check(t.Context(), question()).Allowed())
		grants, err := s.Grants(t.Context())
		require.NoError(t, err)
		require.Len(t, grants, 1)
		p.decision = permission.Deny
		require.True(t, run.Check(t.Context(), question()).Allowed())
		require.NoError(t, s.Revoke(t.Context(), grants[0].ID))
		denied(t, run.Check(t.Context(), question()), "by the user")
		require.ErrorIs(t, s.Revoke(t.Context(), grants[0].ID), permission.ErrNoGrant)
		s.Close()
		denied(t, run.Check(t.Context(), question()), "session is closed")
	}
}

func TestD6ClosingDuringAPromptDenies(t *testing.T) {
	for _, d := range []permission.Decision{permission.AllowOnce, permission.AllowSession} {
		var s *permission.Session
		s = gate(t, permission.PrompterFunc(func(_ context.Context, r permission.Request) (permission.Answer, error) {
			s.Close()
			return r.Answer(d), nil
		}), ask, nil).Session("alice")
		denied(t, s.Run(permission.RunConfig{}).Check(t.Context(), question()), "session is closed")
	}
}

func TestD7EveryDialogThatDeservesAWarningHasOne(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*permission.Question)
		code   permission.Code
	}{
		"unplanned":           {func(q *permission.Question) { q.Plan = permission.NotInPlan }, permission.CodeNotInPlan},
		"planned but tainted": {func(q *permission.Question) { q.Fields[0].Label = isc.AppLabel("app.notes") }, permission.CodeTargetNotFromUser},
		"sensitive":           {func(q *permission.Question) { q.Label = isc.UserLabel().Sensitive() }, permission.CodeSensitiveSource},
		"hidden":              {func(q *permission.Question) { q.Payload = json.RawMessage("{\"folder\":\"inbox\",\"q\":\"a\u202eb\"}") }, permission.CodeHiddenCharacters},
		"hidden name":         {func(q *permission.Question) { q.To.Name = "Web\u200b" }, permission.CodeHiddenCharacters},
		"rule of two":         {func(q *permission.Question) { q.Warnings = []permission.Code{permission.CodeRuleOfTwo} }, permission.CodeRuleOfTwo},
		"unknown":             {func(q *permission.Question) { q.Warnings = []permission.Code{"Novel"} }, "Novel"},
	} {
		p := &person{}
		q := question()
		q.Purpose = "Hub assessment: SAFE"
		tt.change(&q)
		require.False(t, gate(t, p, ask, nil).Session("a").Run(permission.RunConfig{}).Check(t.Context(), q).Allowed())
		r := p.last.Load()
		require.Contains(t, codes(r), tt.code, name)
		require.NotContains(t, r.Offered, permission.AllowPermanent, name)
		require.Contains(t, r.WithheldBecause, "warning")
	}
	require.Empty(t, permission.Assess(question()), "routine looks routine")
	q := question()
	q.Warnings = []permission.Code{permission.CodeFirstUse}
	require.False(t, permission.Assess(q)[0].Warning, "a first use informs")
}

func TestP8OnceIsForOneDelivery(t *testing.T) {
	var asked atomic.Int32
	g := gate(t, permission.PrompterFunc(func(_ context.Context, r permission.Request) (permission.Answer, error) {
		if asked.Add(1) == 1 {
			return r.Answer(permission.AllowOnce), nil
		}
		return r.Answer(permission.Deny), nil
	}), ask, nil)
	for _, kind := range []permission.Kind{permission.Collaborate, permission.Irreversible} {
		asked.Store(0)
		run := g.Session("alice").Run(permission.RunConfig{})
		var allowed atomic.Int32
		var wg sync.WaitGroup
		for range 1000 {
			wg.Go(func() {
				q := question()
				q.Kind = kind
				if run.Check(t.Context(), q).Allowed() {
					allowed.Add(1)
				}
			})
		}
		wg.Wait()
		require.EqualValues(t, 1, allowed.Load())
		require.EqualValues(t, 2, asked.Load(), "after the denial the others are denied without asking")
	}
}

func TestOneQueueAndASessionAnswerReleasesWhatItCovers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most, asked atomic.Int32
		var last atomic.Pointer[permission.Request]
		g := gate(t, permission.PrompterFunc(func(_ context.Context, r permission.Request) (permission.Answer, error) {
			most.Store(max(most.Load(), now.Add(1)))
			defer now.Add(-1)
			asked.Add(1)
			last.Store(&r)
			time.Sleep(time.Second)
			return r.Answer(permission.AllowSession), nil
		}), ask, nil)
		s := g.Session("alice")
		var wg sync.WaitGroup
		for i := range 9 {
			wg.Go(func() {
				q := question()
				q.Functionality = isc.FunctionalityName([]string{"f", "g", "h"}[i%3])
				require.True(t, s.Run(permission.RunConfig{}).Check(t.Context(), q).Allowed())
			})
		}
		wg.Wait()
		require.EqualValues(t, 1, most.Load())
		require.EqualValues(t, 3, asked.Load())
		require.EqualValues(t, 3, last.Load().Index)
	})
}

func TestSelectAppRemembersTheChoice(t *testing.T) {
	q := permission.Question{Kind: permission.SelectApp, Functionality: "ride", Options: []permission.Party{{ID: "app.metro"}, {ID: "app.quick"}}, Query: "a ride"}
	p := &person{decision: permission.AllowPermanent}
	s := gate(t, p, permission.Balanced(), nil).Session("alice")
	v := s.Run(permission.RunConfig{}).Check(t.Context(), q)
	require.Equal(t, isc.AppID("app.quick"), v.Choice)
	p.decision = permission.Deny
	v = s.Run(permission.RunConfig{}).Check(t.Context(), q)
	require.True(t, v.Allowed())
	require.Equal(t, isc.AppID("app.quick"), v.Choice)
	require.Equal(t, "grant", v.By)
	q.Options = []permission.Party{{ID: "app.metro"}, {ID: "app.third"}}
	denied(t, s.Run(permission.RunConfig{}).Check(t.Context(), q), "by the user")
	bad := permission.PrompterFunc(func(_ context.Context, r permission.Request) (permission.Answer, error) {
		return r.Choose(permission.AllowOnce, "app.evil"), nil
	})
	denied(t, gate(t, bad, permission.Balanced(), nil).Session("a").Run(permission.RunConfig{}).Check(t.Context(), q), "not an option")
}

func TestOnAskOnlyWhenAPersonIsAsked(t *testing.T) {
	asked := 0
	cfg := permission.RunConfig{OnAsk: func(permission.Request) { asked++ }}
	p := &person{decision: permission.AllowSession}
	s := gate(t, p, ask, nil).Session("alice")
	for range 3 {
		require.True(t, s.Run(cfg).Check(t.Context(), question()).Allowed())
	}
	require.Equal(t, 1, asked)
	gate(t, p, permission.InsecureAllowAll(), nil).Session("a").Run(cfg).Check(t.Context(), question())
	gate(t, nil, ask, nil).Session("a").Run(cfg).Check(t.Context(), question())
	require.Equal(t, 1, asked)
	cfg.OnAsk = func(permission.Request) { panic("observer") }
	v := gate(t, p, ask, nil).Session("a").Run(cfg).Check(t.Context(), question())
	denied(t, v, "OnAsk panicked")
	require.NotContains(t, v.Reason, "observer")
}
