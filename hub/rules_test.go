package hub_test

import (
	"context"
	"encoding/json"
	"errors"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/hub"
	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/memory"
	"github.com/isolategpt/isolategpt/permission"
	"github.com/isolategpt/isolategpt/planner"
	"github.com/isolategpt/isolategpt/spoke"
)

// TestRule2: operators are deterministic. No file of the hub but the one that
// composes it may import a model, a spoke or anything that draws at random to
// decide.
func TestRule2(t *testing.T) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	seen := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") || name == "hub.go" || name == "doc.go" {
			continue
		}
		seen++
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		require.NoError(t, err)
		for _, imp := range f.Imports {
			path, err := strconv.Unquote(imp.Path.Value)
			require.NoError(t, err)
			for _, not := range []string{"/isolategpt/llm", "/isolategpt/spoke"} {
				require.NotContains(t, path, not, name)
			}
			require.NotContains(t, []string{"math/rand", "math/rand/v2", "net/http", "os/exec", "unsafe", "C"}, path, name)
		}
	}
	require.Greater(t, seen, 20)
}

// TestRule3: identity comes from the channel. What a message says about its
// sender is no part of the protocol, and the hub names who holds the channel.
func TestRule3(t *testing.T) {
	s := besiege(t, func(p *peer) {
		p.task()
		p.frame([]byte(`{"type":"probe","body":{"functionality":"vault.count","app":"metro_hail","spoke_id":"ada:1:x"}}`))
		p.hear()
		p.frame([]byte(`{"type":"probe","from":"metro_hail","body":{"functionality":"vault.count"}}`))
		p.hear()
		p.ask(use(p.probe("vault.count"), `{}`))
		p.done(`{"text":"x"}`)
	})
	s.person.answer = saysYes
	e := runs(t, s.Session, "go")
	require.Equal(t, 2, e.dropped())
	require.Len(t, s.vault.done("vault.count"), 1)
	for _, d := range e.decided() {
		if d.Question.Functionality == "vault.count" && d.Question.Kind == permission.Collaborate {
			require.Contains(t, []isc.AppID{"rogue"}, d.Question.From.ID)
		}
	}
	s.covered(t)
}

// TestRule4: nothing happens without a grant; every doubt denies. The zero
// decision is a denial, and so is no prompter, no answer, an error, a panic, a
// timeout, a foreign answer, a policy that rules nothing, and a corrupt store.
func TestRule4(t *testing.T) {
	for name, change := range map[string]func(*hub.Config){
		"no prompter": func(cfg *hub.Config) { cfg.Consent = nil },
		"zero answer": prompting(func(context.Context, permission.Request) (permission.Answer, error) { return permission.Answer{}, nil }),
		"an error": prompting(func(_ context.Context, r permission.Request) (permission.Answer, error) {
			return r.Answer(permission.AllowOnce), errors.New("lost the terminal")
		}),
		"a panic": prompting(func(context.Context, permission.Request) (permission.Answer, error) { panic("the window is gone") }),
		"another request": prompting(func(_ context.Context, r permission.Request) (permission.Answer, error) {
			a := r.Answer(permission.AllowOnce)
			a.ID += "x"
			return a, nil
		}),
		"another content": prompting(func(_ context.Context, r permission.Request) (permission.Answer, error) {
			a := r.Answer(permission.AllowOnce)
			a.Digest = isc.DigestOf([]byte("{}"))
			return a, nil
		}),
		"for good": prompting(func(_ context.Context, r permission.Request) (permission.Answer, error) {
			return r.Answer(permission.AllowPermanent), nil
		}),
		"an unknown decision": prompting(func(_ context.Context, r permission.Request) (permission.Answer, error) { return r.Answer(99), nil }),
		"a policy that rules nothing": func(cfg *hub.Config) {
			cfg.Policy = permission.PolicyFunc(func(permission.Question) permission.Ruling { return permission.Ruling{} })
		},
		"a policy that panics": func(cfg *hub.Config) {
			cfg.Policy = permission.PolicyFunc(func(permission.Question) permission.Ruling { panic("policy") })
		},
		"headless": func(cfg *hub.Config) { cfg.Policy = permission.Headless() },
	} {
		t.Run(name, func(t *testing.T) {
			post := &postOffice{}
			cfg := hub.Config{Apps: apps(post.app()), Consent: &person{answer: saysYes}, Planner: plans(map[string]string{"mail bob@example.test": sendPlan})}
			change(&cfg)
			a, err := open(t, cfg).Ask(t.Context(), "mail bob@example.test")
			require.NoError(t, err)
			require.Empty(t, post.sent())
			require.True(t, a.Refused)
			require.Equal(t, isc.StatusRefused, a.Steps[0].Status)
			require.NotEmpty(t, a.Steps[0].Reason, "the reason is recorded")
		})
	}
}

const sendPlan = `{"steps":[{"id":"s","do":"call","functionality":"mail.send","args":{"to":"bob@example.test","body":"hi"}}],"answer":{"template":["Sent."]}}`

func prompting(f permission.PrompterFunc) func(*hub.Config) {
	return func(cfg *hub.Config) { cfg.Consent = f }
}

// TestRule5: what was approved is what runs. Neither the prompter, nor a policy,
// nor who reads the events, nor the planner can change it in between.
func TestRule5(t *testing.T) {
	spoil := func(b []byte) {
		for i := range b {
			if b[i] == 'o' {
				b[i] = 'e' // bob becomes beb
			}
		}
	}
	post := &postOffice{}
	var shown string
	plan := must(planner.DecodePlan([]byte(sendPlan)))
	seen := make(chan struct{})
	spoilt := spoilPlan(plan)
	s := open(t, hub.Config{
		Apps: apps(post.app()),
		Consent: permission.PrompterFunc(func(_ context.Context, r permission.Request) (permission.Answer, error) {
			shown = string(r.Payload)
			answer := r.Answer(permission.AllowOnce)
			spoil(r.Payload)
			for i := range r.Fields {
				r.Fields[i].Pointer = "/x"
			}
			return answer, nil
		}),
		Policy: permission.PolicyFunc(func(q permission.Question) permission.Ruling {
			ruling := permission.Balanced().Rule(q)
			spoil(q.Payload)
			return ruling
		}),
		Planner:  planner.Func(func(context.Context, planner.Input) (*planner.Plan, error) { return plan, nil }),
		Launcher: held{seen},
	})
	for ev, err := range s.Run(t.Context(), "mail bob@example.test") {
		require.NoError(t, err)
		switch ev := ev.(type) {
		case hub.Planned:
			spoilPlan(ev.Plan)
			spoilt()
		case hub.Asked:
			spoil(ev.Request.Payload)
		case hub.Decided:
			spoil(ev.Question.Payload)
			if ev.Verdict.Request != nil {
				spoil(ev.Verdict.Request.Payload)
			}
			if ev.Question.Kind == permission.Irreversible {
				close(seen)
			}
		default: // others carry no bytes
		}
	}
	require.JSONEq(t, `{"to":"bob@example.test","body":"hi"}`, shown)
	require.Equal(t, []mailTo{{"bob@example.test", "hi"}}, post.sent())
}

// held is a launcher that starts nothing before the events were read.
type held struct{ until chan struct{} }

func (h held) Launch(ctx context.Context, spec spoke.Spec) (*spoke.Instance, error) {
	<-h.until
	return spoke.InProcess().Launch(ctx, spec)
}

// spoilPlan changes a plan in place, now and when it is called.
func spoilPlan(p *planner.Plan) func() {
	first := true
	spoil := func() {
		if first {
			first = false
			return
		}
		p.Steps[0].Do.(planner.Call).Args["to"] = planner.Literal{JSON: json.RawMessage(`"eve@evil.test"`)}
	}
	spoil()
	return spoil
}

// TestRule6: a spoke that is wholly lost gets no more than its grants. The
// session's grant for one functionality is none for another, and the hub stops
// what the person did not allow, whatever the spoke says. See also
// TestHostileSpokeGetsNoMoreThanItsGrants.
func TestRule6(t *testing.T) {
	s := besiege(t, func(p *peer) {
		for p.task() {
			counts := p.probe("vault.count")
			for range 3 {
				p.ask(use(counts, `{}`))
			}
			p.ask(use(p.probe("vault.read"), `{"name":"a"}`))
			p.ask(use(p.probe("vault.wipe"), `{"door":"front"}`))
			p.ask(use(p.probe("vault.save"), `{"text":"x"}`))
			p.done(`{"text":"x"}`)
		}
	})
	s.person.answer = func(r permission.Request) permission.Answer {
		if r.Functionality == "vault.count" {
			return r.Answer(permission.AllowSession)
		}
		return r.Answer(permission.Deny)
	}
	runs(t, s.Session, "go")
	require.Len(t, s.vault.done("vault.count"), 3)
	require.Equal(t, 3, s.vault.all())
	s.covered(t)
}

// TestRule7: a spoke learns nothing about other spokes: neither its task nor a
// reply names another app. See also
// TestNotInstalledDeniedMalformedAndFailedGiveASpokeTheSameBytes.
func TestRule7(t *testing.T) {
	s := overWire(t, func(w wire) {
		handle, formats := w.offered("vault.read")
		require.NotContains(t, formats, "vault")
		for _, reply := range []string{w.request(handle, `{"name":"a"}`), w.probe("vault.count"), w.probe("ride.fare")} {
			for _, name := range []string{"vault", "metro", "Vault", "Metro"} {
				require.NotContains(t, reply, name)
			}
		}
	})
	_ = s
}

// TestRule8: a spoke holds no secret. It is started with its own app, a model
// that the hub meters and a memory of its own, and with nothing else; what of
// that a process holds is tested where processes are.
func TestRule8(t *testing.T) {
	mem := memory.InMemory()
	require.NoError(t, memory.NewView(mem, memory.HubScope("ada")).Append(t.Context(), memory.Record{
		Kind: memory.Entity, Key: "ssn", Value: json.RawMessage(`"123-45-6789"`), Label: isc.UserLabel(),
	}))
	var specs []spoke.Spec
	var mu sync.Mutex
	s := open(t, hub.Config{
		LLM: writes(`{"answer":true}`), Memory: mem, Apps: processApps(),
		Launcher: launching(func(ctx context.Context, spec spoke.Spec) (*spoke.Instance, error) {
			mu.Lock()
			specs = append(specs, spec)
			mu.Unlock()
			return spoke.InProcess().Launch(ctx, spec)
		}),
		Planner: plans(map[string]string{"fares?": bothFares}),
	})
	_, err := s.Ask(t.Context(), "fares?")
	require.NoError(t, err)
	require.Len(t, specs, 2)
	for _, spec := range specs {
		records, err := spec.Memory.Records(t.Context(), memory.Query{})
		require.NoError(t, err)
		require.Empty(t, records, "the hub's memory is no spoke's")
		_, err = spec.LLM.Generate(t.Context(), &llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "x"}}})
		require.Equal(t, llm.OverBudget, llm.KindOf(err), "no run, no model")
	}
}

type launching func(context.Context, spoke.Spec) (*spoke.Instance, error)

func (l launching) Launch(ctx context.Context, spec spoke.Spec) (*spoke.Instance, error) {
	return l(ctx, spec)
}

// TestRule9: security has no silent default. A hub without a launcher or a
// model is none; a weaker choice is made by name, and said.
func TestRule9(t *testing.T) {
	_, err := hub.New(hub.Config{LLM: noModel()})
	require.ErrorContains(t, err, "Launcher is missing")
	_, err = hub.New(hub.Config{Launcher: spoke.InProcess()})
	require.ErrorContains(t, err, "LLM is missing")
	_, err = hub.New(hub.Config{LLM: noModel(), Launcher: spoke.InProcess(), Limits: hub.Limits{Prompts: -1}})
	require.Error(t, err)
	h, err := hub.New(hub.Config{LLM: noModel(), Launcher: spoke.InProcess(), Apps: processApps(), Planner: plans(map[string]string{"fares?": bothFares})})
	require.NoError(t, err)
	defer func() { require.NoError(t, h.Close()) }()
	_, err = h.Session(hub.SessionConfig{})
	require.ErrorContains(t, err, "no user")
	s, err := h.Session(hub.SessionConfig{User: "ada"})
	require.NoError(t, err)
	e := runs(t, s, "fares?")
	launched := 0
	for _, ev := range e.events {
		if l, ok := ev.(hub.Launched); ok {
			require.Equal(t, "in-process", l.Isolation.Name)
			launched++
		}
	}
	require.Equal(t, 2, launched)
}
