package foreign_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/hub"
	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/permission"
	"github.com/isolategpt/isolategpt/planner"
	"github.com/isolategpt/isolategpt/spoke"
	"github.com/isolategpt/isolategpt/spoke/foreign"
)

type text struct {
	Text string `json:"text"`
}

var textFormat = isc.MustFormat(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}`)

// tool is the manifest of testdata/app.py.
func tool(hosts ...string) isc.Manifest {
	return isc.Manifest{ID: "tool", Name: "Tool", Hosts: hosts, Wants: []isc.FunctionalityName{"note.read"}, Vouched: true,
		Functionalities: []isc.Functionality{
			{Name: "tool.work", Request: textFormat, Response: textFormat, Effect: isc.Read},
			{Name: "tool.change", Request: textFormat, Response: textFormat, Effect: isc.Irreversible},
		}}
}

// pythonApp is the app of testdata/app.py.
func pythonApp(t testing.TB, m isc.Manifest, edit ...func(*foreign.Config)) *foreign.App {
	t.Helper()
	cfg := python(t).script(t, "app.py", "")
	cfg.Grace = 500 * time.Millisecond
	for _, e := range edit {
		e(&cfg)
	}
	a, err := foreign.NewApp(m, cfg)
	require.NoError(t, err)
	return a
}

// notes is a compiled-in app.
func notes(t testing.TB) spoke.App {
	a, err := spoke.New(isc.Manifest{ID: "notes", Name: "Notes"},
		spoke.Func("note.read", func(_ context.Context, n text) (text, error) { return text{"note of " + n.Text}, nil }, spoke.Reads()))
	require.NoError(t, err)
	return a
}

// person answers dialogs and remembers them.
type person struct {
	mu     sync.Mutex
	asked  []permission.Request
	answer permission.Decision
}

func (p *person) Prompt(_ context.Context, r permission.Request) (permission.Answer, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, r)
	return r.Answer(p.answer), nil
}

func (p *person) hosts() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := []string{}
	for _, r := range p.asked {
		if r.Kind == permission.SendRemote {
			out = append(out, r.Host)
		}
	}
	return out
}

// nowhere is a fetcher that is there and sends nothing.
var nowhere = spoke.FetcherFunc(func(context.Context, spoke.HTTPRequest) (spoke.HTTPResponse, error) {
	return spoke.HTTPResponse{}, errors.New("not here")
})

// desk is a hub in which each request is a call of the tool with it.
type desk struct {
	*hub.Session
	person *person
	trail  *hub.MemoryAudit
}

func open(t testing.TB, app spoke.App, edit ...func(*hub.Config)) *desk {
	t.Helper()
	d := &desk{person: &person{}, trail: &hub.MemoryAudit{}}
	cfg := hub.Config{
		LLM: llm.Func(func(context.Context, *llm.Request) (*llm.Response, error) {
			return nil, &llm.Error{Kind: llm.Unavailable, Err: errors.New("no model here")}
		}),
		Launcher: foreign.Launcher{Other: spoke.InProcess()}, Apps: []spoke.App{app, notes(t)}, Consent: d.person, HTTP: nowhere, Audit: d.trail,
		Planner: planner.Func(func(_ context.Context, in planner.Input) (*planner.Plan, error) {
			return planner.DecodePlan(fmt.Appendf(nil, `{"steps":[{"id":"s","do":"call","functionality":"tool.work","args":{"text":%q}}],"answer":{"step":"s","pointer":"/text"}}`, in.Query))
		}),
	}
	for _, e := range edit {
		e(&cfg)
	}
	h, err := hub.New(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.Close()) })
	d.Session, err = h.Session(hub.SessionConfig{User: "ada"})
	require.NoError(t, err)
	return d
}

// ask gives the answer and the events.
func (d *desk) ask(t testing.TB, query string) (hub.Answer, []hub.Event) {
	t.Helper()
	var events []hub.Event
	var answer hub.Answer
	for e, err := range d.Run(t.Context(), query) {
		require.NoError(t, err)
		events = append(events, e)
		if a, ok := e.(hub.Answered); ok {
			answer = a.Answer
		}
	}
	require.Len(t, answer.Steps, 1)
	return answer, events
}

// says holds that the answer has a text.
func (d *desk) says(t testing.TB, query, want string) {
	t.Helper()
	a, _ := d.ask(t, query)
	require.Equal(t, isc.StatusDone, a.Steps[0].Status, "%s: %v", query, a.Steps[0])
	require.Contains(t, a.Text, want, query)
}

// ends holds that the call ended otherwise.
func (d *desk) ends(t testing.TB, query string, want isc.Status) hub.StepOutcome {
	t.Helper()
	a, _ := d.ask(t, query)
	require.Equal(t, want, a.Steps[0].Status, "%s: %v", query, a.Text)
	return a.Steps[0]
}
