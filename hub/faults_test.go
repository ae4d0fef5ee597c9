package hub_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/hub"
	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/memory"
	"github.com/isolategpt/isolategpt/permission"
	"github.com/isolategpt/isolategpt/planner"
	"github.com/isolategpt/isolategpt/spoke"
)

// fault breaks one call of one supplied part: it errs, panics, or blocks until
// its context ends.
type fault struct {
	part, how string
	at        int

	mu   sync.Mutex
	seen int
	hit  bool
}

var errFault = errors.New("test: broken on purpose")

// trip is called at the beginning of each call of each part.
func (f *fault) trip(ctx context.Context, part string) error {
	f.mu.Lock()
	mine := part == f.part && f.seen == f.at
	if part == f.part {
		f.seen++
	}
	f.hit = f.hit || mine
	f.mu.Unlock()
	if !mine {
		return nil
	}
	switch f.how {
	case "panics":
		panic(errFault)
	case "blocks":
		<-ctx.Done()
		return context.Cause(ctx)
	default:
		return errFault
	}
}

// The parts, each with a fault in it.
type (
	faultyModel struct {
		*fault
		llm.LLM
	}
	faultyMemory struct {
		*fault
		memory.Memory
	}
	faultyStore struct {
		*fault
		permission.Store
	}
	faultyAudit struct {
		*fault
		hub.Audit
	}
	faultyCatalogue struct {
		*fault
		hub.Catalogue
	}
)

func (m faultyModel) Generate(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	if err := m.trip(ctx, "model"); err != nil {
		return nil, err
	}
	return m.LLM.Generate(ctx, req)
}

func (m faultyMemory) Append(ctx context.Context, s memory.Scope, r memory.Record) error {
	if err := m.trip(ctx, "memory append"); err != nil {
		return err
	}
	return m.Memory.Append(ctx, s, r)
}

func (m faultyMemory) Records(ctx context.Context, s memory.Scope, q memory.Query) ([]memory.Record, error) {
	if err := m.trip(ctx, "memory records"); err != nil {
		return nil, err
	}
	return m.Memory.Records(ctx, s, q)
}

func (m faultyMemory) Forget(ctx context.Context, s memory.Scope, q memory.Query) (int, error) {
	if err := m.trip(ctx, "memory forget"); err != nil {
		return 0, err
	}
	return m.Memory.Forget(ctx, s, q)
}

func (s faultyStore) Grants(ctx context.Context, user string) ([]permission.Grant, error) {
	if err := s.trip(ctx, "grants"); err != nil {
		return nil, err
	}
	return s.Store.Grants(ctx, user)
}

func (s faultyStore) Put(ctx context.Context, g permission.Grant) error {
	if err := s.trip(ctx, "grants put"); err != nil {
		return err
	}
	return s.Store.Put(ctx, g)
}

func (a faultyAudit) Append(ctx context.Context, r hub.Record) error {
	if err := a.trip(ctx, "audit"); err != nil {
		return err
	}
	return a.Audit.Append(ctx, r)
}

func (c faultyCatalogue) Open(ctx context.Context, id isc.AppID) (spoke.App, error) {
	if err := c.trip(ctx, "catalogue"); err != nil {
		return nil, err
	}
	return c.Catalogue.Open(ctx, id)
}

// faulty is a world in which one request uses every part: the person is asked
// for data, an app is installed, one app asks another, and a mail goes out.
type faulty struct {
	*hub.Session
	post  postOffice
	mu    sync.Mutex
	yeses []string // the payloads of irreversible acts that the person agreed to
}

func newFaulty(t testing.TB, f *fault) *faulty {
	w := &faulty{}
	fares := must(spoke.New(isc.Manifest{ID: "fares", Name: "Fares", Wants: []isc.FunctionalityName{"count.letters"}},
		spoke.FuncWith("ride.cost", func(ctx context.Context, h spoke.Hub, r route) (fare, error) {
			if err := f.trip(ctx, "app"); err != nil {
				return fare{}, err
			}
			if _, err := h.Need(ctx, isc.DataField{Name: "home", Purpose: "to know"}); err != nil {
				return fare{}, err
			}
			_, _ = h.Use(ctx, "count.letters", json.RawMessage(`{"text":"x"}`))
			return fare{"51.80"}, nil
		}, spoke.Reads())))
	counter := must(spoke.New(isc.Manifest{ID: "counter", Name: "Counter"},
		spoke.Func("count.letters", func(ctx context.Context, n note) (sent, error) {
			return sent{len(n.Text)}, f.trip(ctx, "other app")
		}, spoke.Reads())))
	model := llm.Func(func(_ context.Context, req *llm.Request) (*llm.Response, error) {
		return &llm.Response{Text: map[string]string{"plan": faultPlan, "decide": `{"answer":true}`}[req.Purpose], Finish: llm.FinishStop}, nil
	})
	lm := faultyModel{f, model}
	inner := must(planner.New(planner.Config{LLM: llm.Safe(lm)}))
	w.Session = open(t, hub.Config{
		LLM: lm, Apps: apps(fares, w.post.app(), metro(), quick()), Memory: faultyMemory{f, memory.InMemory()}, Audit: faultyAudit{f, &hub.MemoryAudit{}},
		Grants: faultyStore{f, permission.InMemoryStore()}, Catalogue: faultyCatalogue{f, &market{apps: apps(counter)}},
		Waive:  bare(counter),
		Limits: hub.Limits{Wall: time.Minute},
		Launcher: launching(func(ctx context.Context, s spoke.Spec) (*spoke.Instance, error) {
			if err := f.trip(ctx, "launcher"); err != nil {
				return nil, err
			}
			return spoke.InProcess().Launch(ctx, s)
		}),
		Planner: planner.Func(func(ctx context.Context, in planner.Input) (*planner.Plan, error) {
			if err := f.trip(ctx, "planner"); err != nil {
				return nil, err
			}
			return inner.Plan(ctx, in)
		}),
		Asker: hub.AskerFunc(func(ctx context.Context, q hub.Question) (json.RawMessage, error) {
			return json.RawMessage(`"Main Street"`), f.trip(ctx, "asker")
		}),
		Policy: permission.PolicyFunc(func(q permission.Question) permission.Ruling {
			if f.trip(t.Context(), "policy") != nil {
				return permission.Ruling{}
			}
			return permission.Balanced().Rule(q)
		}),
		Consent: permission.PrompterFunc(func(ctx context.Context, r permission.Request) (permission.Answer, error) {
			if err := f.trip(ctx, "prompter"); err != nil {
				return r.Answer(permission.AllowOnce), err // an error denies, whatever comes with it
			}
			a := r.Answer(r.Offered[len(r.Offered)-1]) // the longest lifetime, so that grants are stored
			if r.Kind == permission.SelectApp {
				a.Choice = r.Options[0].ID
			}
			if r.Kind == permission.Irreversible {
				w.mu.Lock()
				w.yeses = append(w.yeses, string(r.Payload))
				w.mu.Unlock()
			}
			return a, nil
		}),
	})
	return w
}

const faultPlan = `{"steps":[
	{"id":"c","do":"call","functionality":"ride.cost","args":{"from":"Main Street","to":"Elm Avenue"}},
	{"id":"f","do":"call","functionality":"ride.fare","args":{"from":"Main Street","to":"Elm Avenue"}},
	{"id":"d","do":"decide","question":"Is it dear?","inputs":[{"step":"c","pointer":"/fare"}],"format":{"type":"boolean"}},
	{"id":"s","do":"call","functionality":"mail.send","args":{"to":"bob@example.test","body":{"template":["It costs ",{"step":"c","pointer":"/fare"}]}},
		"when":{"op":"eq","a":{"step":"d","pointer":""},"b":true}}],
	"answer":{"template":["Sent, it costs ",{"step":"c","pointer":"/fare"},", or ",{"step":"f","pointer":"/fare"}]}}`

var faultParts = []string{
	"model", "memory append", "memory records", "grants", "grants put", "audit", "catalogue", "launcher", "planner", "asker", "policy", "prompter",
	"app", "other app",
}

// TestDefaultDenyUnderEachFault is promise 6 and P3: each call of each supplied
// part errs, panics or blocks in turn. The run ends, with an answer or an error;
// no mail goes out that the person did not agree to, byte for byte; and without a
// plan none goes out at all.
func TestDefaultDenyUnderEachFault(t *testing.T) {
	for _, part := range faultParts {
		for _, how := range []string{"errs", "panics", "blocks"} {
			t.Run(part+" "+how, func(t *testing.T) {
				if part == "policy" && how == "blocks" {
					t.Skip("a policy has no context: it is a function of the program and must not block")
				}
				for at := range 64 {
					if !underFault(t, &fault{part: part, how: how, at: at}) {
						require.Positive(t, at, "the part was never called")
						return
					}
				}
			})
		}
	}
}

// underFault runs the request once and says whether the fault happened.
func underFault(t *testing.T, f *fault) (hit bool) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newFaulty(t, f)
		start := time.Now()
		a, err := w.Ask(context.Background(), "What is the fare? Tell bob@example.test.")
		took := time.Since(start)
		name := fmt.Sprintf("%s %s at call %d: %v %v after %v", f.part, f.how, f.at, a.Steps, err, took)
		require.LessOrEqual(t, took, 3*time.Minute, name)
		require.LessOrEqual(t, len(w.post.sent()), len(w.yeses), name)
		for i, m := range w.post.sent() {
			require.JSONEq(t, w.yeses[i], string(must(json.Marshal(m))), name)
		}
		if err == nil {
			require.NotEmpty(t, a.Text, name)
		}
		hit = f.hit
		if !hit {
			require.NoError(t, err, name)
			require.Len(t, w.post.sent(), 1, name)
			return
		}
		if f.part == "planner" {
			require.Empty(t, w.post.sent(), name)
		}
		// The session lives on.
		f.mu.Lock()
		f.at = -1
		f.mu.Unlock()
		_, err = w.Ask(context.Background(), "Again: tell bob@example.test.")
		require.NoError(t, err, name)
	})
	return hit
}

// TestWhatCannotBeRecordedDoesNotHappen: without a trail no act.
func TestWhatCannotBeRecordedDoesNotHappen(t *testing.T) {
	post := &postOffice{}
	p := &person{answer: saysYes}
	broken := auditing(func(_ context.Context, r hub.Record) error {
		if r.Event == "decision" && r.Detail == "irreversible" {
			return errFault
		}
		return nil
	})
	s := open(t, hub.Config{Apps: apps(post.app()), Consent: p, Audit: broken, Planner: plans(map[string]string{"mail bob@example.test": sendPlan})})
	_, err := s.Ask(t.Context(), "mail bob@example.test")
	require.ErrorIs(t, err, errFault)
	require.Equal(t, []string{"irreversible"}, p.kinds())
	require.Empty(t, post.sent())
}

type auditing func(context.Context, hub.Record) error

func (a auditing) Append(ctx context.Context, r hub.Record) error { return a(ctx, r) }

// TestALauncherThatGivesNothingIsContained: no instance, or one without a
// connection, is a failed step, and the spoke's place is free again.
func TestALauncherThatGivesNothingIsContained(t *testing.T) {
	for name, instance := range map[string]*spoke.Instance{"no instance": nil, "no connection": {Isolation: isc.Isolation{Name: "none"}}} {
		t.Run(name, func(t *testing.T) {
			s := open(t, hub.Config{
				Apps: processApps(), Limits: hub.Limits{Parallel: 1}, Planner: plans(map[string]string{"fares?": bothFares}),
				Launcher: launching(func(context.Context, spoke.Spec) (*spoke.Instance, error) { return instance, nil }),
			})
			for range 3 {
				e := runs(t, s, "fares?")
				require.NoError(t, e.err)
				require.Equal(t, isc.StatusFailed, e.step(t, "m").Status)
			}
		})
	}
}

// TestABreakInTheReaderEndsTheRun: a loop that is left, by a break, a panic or
// the end of its goroutine, leaves nothing behind.
func TestABreakInTheReaderEndsTheRun(t *testing.T) {
	for name, leave := range map[string]func(){"panic": func() { panic(errFault) }, "goexit": nil, "break": nil} {
		t.Run(name, func(t *testing.T) {
			asked := make(chan struct{})
			s := open(t, hub.Config{
				Apps: apps((&postOffice{}).app()), Planner: plans(map[string]string{"mail bob@example.test": sendPlan}),
				Consent: permission.PrompterFunc(func(ctx context.Context, r permission.Request) (permission.Answer, error) {
					close(asked)
					<-ctx.Done()
					return permission.Answer{}, nil
				}),
			})
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				defer func() { _ = recover() }()
				for range s.Run(context.Background(), "mail bob@example.test") {
					if leave != nil {
						leave()
					}
					if name == "goexit" {
						runtime.Goexit()
					}
					break
				}
			}()
			<-ended
			require.NoError(t, s.Close(), "no run goes on")
		})
	}
}

// TestTwoQuestionsOfOneSessionDoNotHoldUpOneAnother: who waits behind another
// run's question still obeys its own context.
func TestTwoQuestionsOfOneSessionDoNotHoldUpOneAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const plan = `{"steps":[{"id":"q","do":"ask","question":"Where?","format":{"type":"string"}}],"answer":{"step":"q","pointer":""}}`
		s := open(t, hub.Config{
			Planner: plans(map[string]string{"slow": plan, "fast": plan}),
			Asker: hub.AskerFunc(func(ctx context.Context, _ hub.Question) (json.RawMessage, error) {
				<-ctx.Done()
				return nil, context.Cause(ctx)
			}),
		})
		var both sync.WaitGroup
		both.Go(func() { _, _ = s.Ask(context.Background(), "slow") })
		synctest.Wait()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		start := time.Now()
		_, err := s.Ask(ctx, "fast")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.LessOrEqual(t, time.Since(start), 2*time.Second)
		both.Wait()
	})
}
