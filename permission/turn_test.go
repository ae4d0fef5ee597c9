package permission_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/permission"
)

func TestD3OneUsersStalledOnAskDeniesNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		g := gate(t, &person{decision: permission.AllowOnce}, ask, nil)
		stalled := g.Session("alice").Run(permission.RunConfig{OnAsk: func(permission.Request) { <-release }})
		var wg sync.WaitGroup
		wg.Go(func() { denied(t, stalled.Check(t.Context(), question()), "OnAsk did not return") })
		synctest.Wait()
		start := time.Now()
		require.True(t, g.Session("bob").Run(permission.RunConfig{}).Check(t.Context(), question()).Allowed())
		require.Zero(t, time.Since(start), "another user does not even wait")
		v := g.Session("alice").Run(permission.RunConfig{}).Check(t.Context(), question())
		require.True(t, v.Allowed(), "the user's own other session waits and is asked: %s", v.Reason)
		require.LessOrEqual(t, time.Since(start), permission.DefaultTimeout+time.Second)
		wg.Wait()
		close(release)
	})
}

func TestD3AStalledOnAskEndsWithTheContextOfItsCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		p := &person{decision: permission.AllowOnce}
		run := gate(t, p, ask, nil).Session("alice").Run(permission.RunConfig{OnAsk: func(permission.Request) { <-release }})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start := time.Now()
		denied(t, run.Check(ctx, question()), "cancelled")
		require.LessOrEqual(t, time.Since(start), time.Minute+time.Second)
		require.Zero(t, p.asked.Load(), "nobody is asked what was not announced")
		close(release)
	})
}

func TestD3AHangingPrompterHoldsUpItsUserAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		g := gate(t, permission.PrompterFunc(func(_ context.Context, r permission.Request) (permission.Answer, error) {
			if r.User == "alice" {
				<-release
			}
			return r.Answer(permission.AllowOnce), nil
		}), ask, nil)
		denied(t, g.Session("alice").Run(permission.RunConfig{}).Check(t.Context(), question()), "timeout")
		denied(t, g.Session("alice").Run(permission.RunConfig{}).Check(t.Context(), question()), "still busy")
		require.True(t, g.Session("bob").Run(permission.RunConfig{}).Check(t.Context(), question()).Allowed())
		close(release)
	})
}

// Users are asked side by side, each one question at a time, numbered by itself.
func TestEachUserHasAQueueOfTheirOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int32
		var mu sync.Mutex
		busy := map[string]bool{}
		places := map[string][][2]int{}
		g := gate(t, permission.PrompterFunc(func(_ context.Context, r permission.Request) (permission.Answer, error) {
			mu.Lock()
			require.False(t, busy[r.User], "two dialogs of one user at once")
			busy[r.User] = true
			places[r.User] = append(places[r.User], [2]int{r.Index, r.Of})
			mu.Unlock()
			most.Store(max(most.Load(), now.Add(1)))
			time.Sleep(time.Second)
			now.Add(-1)
			mu.Lock()
			busy[r.User] = false
			mu.Unlock()
			return r.Answer(permission.AllowOnce), nil
		}), ask, nil)
		var wg sync.WaitGroup
		for user, n := range map[string]int{"alice": 3, "bob": 1} {
			for i := range n {
				wg.Go(func() {
					q := question()
					q.Functionality = isc.FunctionalityName([]string{"f", "g", "h"}[i])
					require.True(t, g.Session(user).Run(permission.RunConfig{}).Check(t.Context(), q).Allowed())
				})
			}
		}
		wg.Wait()
		require.EqualValues(t, 2, most.Load())
		require.Equal(t, [][2]int{{1, 1}}, places["bob"])
		require.Len(t, places["alice"], 3)
		for i, p := range places["alice"][1:] {
			require.Equal(t, [2]int{i + 2, 3}, p)
		}
	})
}

// What a panic holds may be anybody's data, and a reason goes to the audit trail.
func TestAPanicsValueIsToldToNobody(t *testing.T) {
	secret := func() { panic("card 4111 1111 1111 1111") }
	store := panickingStore{secret}
	g := gate(t, permission.PrompterFunc(func(_ context.Context, r permission.Request) (permission.Answer, error) {
		if r.Functionality == "search_mail" {
			secret()
		}
		return r.Answer(permission.AllowPermanent), nil
	}), ask, store)
	s := g.Session("alice")
	other := question()
	other.Functionality = "read_mail"
	run := s.Run(permission.RunConfig{})
	_, listErr := s.Grants(t.Context())
	revokeErr := s.Revoke(t.Context(), "1")
	reasons := []string{
		run.Check(t.Context(), question()).Reason,
		run.Check(t.Context(), other).Reason,
		s.Run(permission.RunConfig{OnAsk: func(permission.Request) { secret() }}).Check(t.Context(), other).Reason,
		listErr.Error(), revokeErr.Error(),
		permission.Explain(permission.PolicyFunc(func(permission.Question) permission.Ruling { secret(); return permission.Ruling{} }), other).Rule,
	}
	for _, reason := range reasons {
		require.Contains(t, reason, "panicked")
		require.NotContains(t, reason, "4111")
	}
}

type panickingStore struct{ panics func() }

func (s panickingStore) Grants(context.Context, string) ([]permission.Grant, error) {
	s.panics()
	return nil, nil
}
func (s panickingStore) Put(context.Context, permission.Grant) error  { s.panics(); return nil }
func (s panickingStore) Revoke(context.Context, string, string) error { s.panics(); return nil }
