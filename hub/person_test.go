package hub_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/hub"
	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/permission"
	"github.com/isolategpt/isolategpt/spoke"
)

// TestAReaderWhoStopsReadingHoldsUpNobodyElse: their own dialogs wait for them;
// another user's do not.
func TestAReaderWhoStopsReadingHoldsUpNobodyElse(t *testing.T) {
	ruled := make(chan string, 64)
	balanced := permission.Balanced()
	h, err := hub.New(hub.Config{
		LLM: noModel(), Launcher: spoke.InProcess(), Apps: apps((&cabinet{}).app()), Consent: &person{answer: saysYes},
		Policy: permission.PolicyFunc(func(q permission.Question) permission.Ruling {
			if q.Kind == permission.ApprovePlan {
				ruled <- q.User
			}
			return balanced.Rule(q)
		}),
		Planner: plans(map[string]string{"go": `{"steps":[{"id":"a","do":"call","functionality":"drive.save","args":{"text":"x"}}],"answer":{"template":["Saved."]}}`}),
	})
	require.NoError(t, err)
	defer func() { require.NoError(t, h.Close()) }()
	a, b := must(h.Session(hub.SessionConfig{User: "a"})), must(h.Session(hub.SessionConfig{User: "b"}))
	next, stop := iter.Pull2(a.Run(t.Context(), "go"))
	defer stop()
	for {
		ev, err, _ := next()
		require.NoError(t, err)
		if d, ok := ev.(hub.Decided); ok && d.Question.Kind == permission.SelectApp {
			break // what comes next is that a is asked, which nobody reads
		}
	}
	require.Equal(t, "a", <-ruled)
	time.Sleep(20 * time.Millisecond) // a's dialog is announced after the policy ruled
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	answer, err := b.Ask(ctx, "go")
	require.NoError(t, err)
	require.Contains(t, answer.Text, "Saved.")
}

// attention fails when a person is asked two things at once.
type attention struct {
	mu    sync.Mutex
	busy  map[string]bool
	twice bool
	asked atomic.Int32
}

func (a *attention) pay(user string) {
	a.mu.Lock()
	if a.busy == nil {
		a.busy = map[string]bool{}
	}
	a.twice = a.twice || a.busy[user]
	a.busy[user] = true
	a.mu.Unlock()
	a.asked.Add(1)
	time.Sleep(time.Millisecond)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.busy[user] = false
}

// TestAPersonIsAskedOneThingAtATime: dialogs and questions of all the runs and
// sessions of a user come one after another.
func TestAPersonIsAskedOneThingAtATime(t *testing.T) {
	var a attention
	v := &vault{}
	h, err := hub.New(hub.Config{
		LLM: noModel(), Apps: apps(rogue(), v.app(), metro()), Planner: plans(map[string]string{"go": roguePlan}),
		Consent: permission.PrompterFunc(func(_ context.Context, r permission.Request) (permission.Answer, error) {
			a.pay(r.User)
			return saysYes(r), nil
		}),
		Asker: hub.AskerFunc(func(_ context.Context, q hub.Question) (json.RawMessage, error) {
			a.pay(q.User)
			return json.RawMessage(`"x"`), nil
		}),
		Launcher: stage{plays: map[isc.AppID]func(*peer){"rogue": func(p *peer) {
			for p.task() {
				h := p.probe("vault.count")
				for i := range 4 {
					p.need(fmt.Sprint("thing_", i))
					p.ask(use(h, `{}`))
				}
				p.done(`{"text":"x"}`)
			}
		}}},
	})
	require.NoError(t, err)
	defer func() { require.NoError(t, h.Close()) }()
	var all sync.WaitGroup
	for i := range 4 {
		s := must(h.Session(hub.SessionConfig{User: []string{"ada", "bob"}[i%2]}))
		for range 2 {
			all.Go(func() {
				_, err := s.Ask(context.Background(), "go")
				require.NoError(t, err)
			})
		}
	}
	all.Wait()
	require.Greater(t, a.asked.Load(), int32(60))
	require.False(t, a.twice)
}
