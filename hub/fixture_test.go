package hub_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/hub"
	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/permission"
	"github.com/isolategpt/isolategpt/planner"
	"github.com/isolategpt/isolategpt/spoke"
)

type route struct {
	From string `json:"from"`
	To   string `json:"to"`
}

type fare struct {
	Fare json.Number `json:"fare" isolate:"min=0,max=10000"`
}

func letters(r route) float64 { return float64(len(r.From) + len(r.To)) }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func metro() spoke.App {
	return must(spoke.New(isc.Manifest{ID: "metro_hail", Name: "Metro Hail"},
		spoke.Func("ride.fare", func(_ context.Context, r route) (fare, error) {
			return fare{json.Number(fmt.Sprintf("%.2f", 14+1.8*letters(r)))}, nil
		}, spoke.Reads())))
}

func quick() spoke.App {
	return must(spoke.New(isc.Manifest{ID: "quick_ride", Name: "Quick Ride"},
		spoke.Func("ride.fare", func(_ context.Context, r route) (fare, error) {
			return fare{json.Number(fmt.Sprintf("%.2f", 15+2*letters(r)))}, nil
		}, spoke.Reads())))
}

type note struct {
	Text string `json:"text"`
}

type empty struct{}

type mailTo struct {
	To   string `json:"to" isolate:"role=destination"`
	Body string `json:"body"`
}

type sent struct {
	ID int `json:"id" isolate:"min=0,max=1000000"`
}

// postOffice keeps what its mail app really did.
type postOffice struct {
	mu    sync.Mutex
	mails []mailTo
}

func (p *postOffice) sent() []mailTo {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]mailTo(nil), p.mails...)
}

func (p *postOffice) app() spoke.App {
	return must(spoke.New(isc.Manifest{ID: "mail", Name: "Mail", Instructions: "You keep the person's mail.", Wants: []isc.FunctionalityName{"drive.read", "nobody.serves"}},
		spoke.Func("mail.newest", func(context.Context, empty) (note, error) { return note{"Lunch at noon?"}, nil }, spoke.Reads()),
		spoke.Func("mail.send", func(_ context.Context, m mailTo) (sent, error) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.mails = append(p.mails, m)
			return sent{len(p.mails)}, nil
		}),
		// mail.attach asks another app by itself.
		spoke.FuncWith("mail.attach", func(ctx context.Context, h spoke.Hub, n note) (note, error) {
			got, err := h.Use(ctx, "drive.read", json.RawMessage(fmt.Sprintf(`{"name":%q}`, n.Text)))
			if err != nil {
				return note{"refused"}, nil
			}
			return note{"attached " + string(got)}, nil
		}, spoke.Reads()),
	))
}

type file struct {
	Name string `json:"name"`
}

type cabinet struct {
	mu   sync.Mutex
	read []string
}

func (c *cabinet) reads() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.read...)
}

func (c *cabinet) app() spoke.App {
	return must(spoke.New(isc.Manifest{ID: "drive", Name: "Drive"},
		spoke.Func("drive.read", func(_ context.Context, f file) (note, error) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.read = append(c.read, f.Name)
			return note{"content of " + f.Name}, nil
		}, spoke.Reads()),
		spoke.Func("drive.save", func(_ context.Context, n note) (sent, error) { return sent{len(n.Text)}, nil }, spoke.Writes()),
	))
}

// plans is a planner that answers each request with a plan in JSON.
func plans(byRequest map[string]string) planner.Planner {
	return planner.Func(func(_ context.Context, in planner.Input) (*planner.Plan, error) {
		text, ok := byRequest[in.Query]
		if !ok {
			return nil, errors.New("test: no plan for " + in.Query)
		}
		return planner.DecodePlan([]byte(text))
	})
}

// person answers dialogs and remembers them.
type person struct {
	mu     sync.Mutex
	asked  []permission.Request
	answer func(permission.Request) permission.Answer
}

func (p *person) Prompt(_ context.Context, req permission.Request) (permission.Answer, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, req)
	if p.answer == nil {
		return permission.Answer{}, nil
	}
	return p.answer(req), nil
}

// kinds are what was asked, in order.
func (p *person) kinds() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := []string{}
	for _, r := range p.asked {
		out = append(out, r.Kind.String())
	}
	return out
}

func saysYes(r permission.Request) permission.Answer {
	a := r.Answer(permission.AllowOnce)
	if len(r.Options) > 0 {
		a.Choice = r.Options[0].ID
	}
	return a
}

// noModel fails whoever calls it.
func noModel() llm.LLM {
	return llm.Func(func(context.Context, *llm.Request) (*llm.Response, error) {
		return nil, &llm.Error{Kind: llm.Unavailable, Err: errors.New("test: no model here")}
	})
}

// writes is a model that always answers the same.
func writes(text string) llm.LLM {
	return llm.Func(func(context.Context, *llm.Request) (*llm.Response, error) {
		return &llm.Response{Text: text, Finish: llm.FinishStop}, nil
	})
}

func open(t testing.TB, cfg hub.Config) *hub.Session {
	t.Helper()
	if cfg.LLM == nil {
		cfg.LLM = noModel()
	}
	if cfg.Launcher == nil {
		cfg.Launcher = spoke.InProcess()
	}
	h, err := hub.New(cfg)
	require.NoError(t, err)
	s, err := h.Session(hub.SessionConfig{User: "ada"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.Close()) })
	return s
}

// bare waives every guarantee of these apps, so that tests may run what a
// catalogue lists in this process.
func bare(apps ...spoke.App) map[isc.AppID]isc.Guarantees {
	out := map[isc.AppID]isc.Guarantees{}
	for _, a := range apps {
		out[a.Manifest().ID] = isc.FullIsolation
	}
	return out
}

func processApps() []spoke.App { return []spoke.App{metro(), quick()} }

// watch runs a request and prints what happens to the test's log.
func watch(t testing.TB, s *hub.Session, text string, opts ...hub.Option) hub.Answer {
	t.Helper()
	var a hub.Answer
	for ev, err := range s.Run(t.Context(), text, opts...) {
		require.NoError(t, err)
		if d, ok := ev.(hub.Decided); ok {
			t.Logf("%s %s->%s %s: %s by %s %s (%s)", d.Question.Kind, d.Question.From.ID, d.Question.To.ID, d.Question.Functionality, d.Verdict.Decision, d.Verdict.By, d.Verdict.Rule, d.Verdict.Reason)
			continue
		}
		t.Logf("%T %+v", ev, ev)
		if e, ok := ev.(hub.Answered); ok {
			a = e.Answer
		}
	}
	return a
}
