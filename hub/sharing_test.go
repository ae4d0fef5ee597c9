package hub_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/hub"
	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/memory"
	"github.com/isolategpt/isolategpt/permission"
	"github.com/isolategpt/isolategpt/spoke"
)

// forSession allows for as long as is offered, but for good.
func forSession(r permission.Request) permission.Answer {
	a := saysYes(r)
	for _, d := range r.Offered {
		if d == permission.AllowSession {
			a.Decision = d
		}
	}
	return a
}

// learns puts what ada said into her memory.
func learns(t testing.TB, m memory.Memory, key, value string) {
	t.Helper()
	require.NoError(t, memory.NewView(m, memory.HubScope("ada")).Append(t.Context(), memory.Record{
		Kind: memory.Entity, Key: key, Value: json.RawMessage(value), Label: isc.UserLabel().Sensitive(), Time: time.Now(),
	}))
}

// need asks the hub for one datum and gives it, or "".
func (p *peer) need(name string) string {
	d, ok := p.ask(isc.NeedData{Fields: []isc.DataField{{Name: name, Purpose: "I need it"}}}).(isc.Data)
	if !ok {
		return ""
	}
	return string(d.Values[0].Body)
}

// TestAGrantOfADatumIsOfThatDatumAndItsValue: who may have the city for the
// session has neither another datum, nor all of them, nor the next city.
func TestAGrantOfADatumIsOfThatDatumAndItsValue(t *testing.T) {
	mem := memory.InMemory()
	learns(t, mem, "city", `"Irvine"`)
	learns(t, mem, "ssn", `"123-45-6789"`)
	wants := make(chan string, 1)
	var got string
	s := besiege(t, func(p *peer) {
		for p.task() {
			got = p.need(<-wants)
			p.done(`{"text":"x"}`)
		}
	}, func(c *hub.Config) { c.Memory = mem })
	s.person.answer = forSession
	asks := func(name, value string, dialogs int) {
		t.Helper()
		wants <- name
		require.NoError(t, runs(t, s.Session, "go").err)
		require.Equal(t, value, got)
		require.Len(t, s.person.kinds(), dialogs, name)
	}
	asks("city", `"Irvine"`, 1)
	asks("city", `"Irvine"`, 1)
	asks("ssn", `"123-45-6789"`, 2)
	asks("personal_data", `{"city":"Irvine","ssn":"123-45-6789"}`, 3)
	learns(t, mem, "city", `"Berlin"`)
	asks("city", `"Berlin"`, 4)
	for _, r := range s.person.asked {
		require.Equal(t, permission.ShareData, r.Kind)
	}
}

// TestAGrantOfAPlannedDatumIsOfThatDatum: the argument is the same, and what goes
// into it is not.
func TestAGrantOfAPlannedDatumIsOfThatDatum(t *testing.T) {
	mem := memory.InMemory()
	learns(t, mem, "city", `"Irvine"`)
	learns(t, mem, "company", `"Acme"`)
	p := &person{answer: forSession}
	s := open(t, hub.Config{
		Apps: apps((&cabinet{}).app()), Memory: mem, Consent: p, Policy: asksToShare(),
		Planner: plans(map[string]string{"city": saveMemory("city"), "company": saveMemory("company")}),
	})
	shared := func() (n int) {
		for _, k := range p.kinds() {
			if k == permission.ShareData.String() {
				n++
			}
		}
		return n
	}
	for _, c := range []struct {
		request string
		dialogs int
	}{{"city", 1}, {"city", 1}, {"company", 2}} {
		e := runs(t, s, c.request)
		require.NoError(t, e.err)
		require.Equal(t, isc.StatusDone, e.step(t, "s").Status, "%+v", e.answer)
		require.Equal(t, c.dialogs, shared(), c.request)
	}
}

// asksToShare asks for each sharing, though the plan was approved, and lets it be
// remembered.
func asksToShare() permission.Policy {
	return must(permission.Layers(permission.Balanced(), permission.Layer{
		Name: "test", Rules: []permission.Rule{{ID: "ask-to-share", Effect: permission.RuleAsk, Kinds: []permission.Kind{permission.ShareData}}},
	}))
}

func saveMemory(key string) string {
	return `{"steps":[{"id":"s","do":"call","functionality":"drive.save","args":{"text":{"memory":"` + key + `"}}}],"answer":{"template":["Saved."]}}`
}

// TestWhatADelegatedTaskIsGivenIsAskedEachTime: its inputs have no definition
// that a grant could be for.
func TestWhatADelegatedTaskIsGivenIsAskedEachTime(t *testing.T) {
	mem := memory.InMemory()
	learns(t, mem, "city", `"Irvine"`)
	p := &person{answer: forSession}
	s := open(t, hub.Config{
		Apps: apps(helper("helper")), Memory: mem, Consent: p, Policy: asksToShare(), LLM: finishes(),
		Planner: plans(map[string]string{"go": `{"steps":[{"id":"d","do":"delegate","app":"helper","task":"Greet.","inputs":[{"memory":"city"}],"at_most":2}],"answer":{"step":"d","pointer":""}}`}),
	})
	for i := range 2 {
		e := runs(t, s, "go")
		require.NoError(t, e.err)
		require.Equal(t, isc.StatusDone, e.step(t, "d").Status, "%+v", e.answer)
		asked := 0
		for _, r := range p.asked {
			if r.Kind == permission.ShareData {
				asked++
				require.NotContains(t, r.Offered, permission.AllowSession)
				require.NotContains(t, r.Offered, permission.AllowPermanent)
			}
		}
		require.Equal(t, i+1, asked)
	}
	grants, err := s.Grants(t.Context())
	require.NoError(t, err)
	for _, g := range grants {
		require.NotEqual(t, permission.ShareData, g.Kind)
	}
}

// helper is an app with an agent, and nothing that matters otherwise.
func helper(id isc.AppID, wants ...isc.FunctionalityName) spoke.App {
	return must(spoke.New(isc.Manifest{ID: id, Name: "App " + string(id), Instructions: "You help.", Wants: wants},
		spoke.Func(isc.FunctionalityName(id+".idle"), func(context.Context, note) (note, error) { return note{}, nil }, spoke.Reads())))
}
