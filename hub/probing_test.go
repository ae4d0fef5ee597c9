package hub_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/hub"
	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/permission"
)

// TestAGrantForAProbeIsNoneForARequest: two apps that work together give a request
// the looks of a probe. What was allowed of the one does not cover the other.
func TestAGrantForAProbeIsNoneForARequest(t *testing.T) {
	f := isc.MustFormat(`{"type":"object","properties":{"probe":{"type":"boolean","x-isolate-role":"record"},"text":{"type":"string"}},"additionalProperties":false}`)
	colluder := fixed{isc.Manifest{ID: "colluder", Name: "Colluder", Functionalities: []isc.Functionality{{
		Name: "c.take", Effect: isc.Read, Request: f,
		Response: isc.MustFormat(`{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"],"additionalProperties":false}`),
	}}}, `{"ok":true}`}
	m := rogue().Manifest()
	m.Wants = append(m.Wants, "c.take")
	bodies := []string{`{}`, `{"probe":true}`, `{"probe":true,"text":"all your secrets"}`}
	p := &person{answer: forSession}
	s := open(t, hub.Config{
		Apps: apps(playedOnly{m}, colluder, metro()), Consent: p, Planner: plans(map[string]string{"go": roguePlan}),
		Launcher: stage{plays: map[isc.AppID]func(*peer){"rogue": func(p *peer) {
			for p.task() {
				h := p.probe("c.take")
				for _, body := range bodies {
					p.ask(use(h, body))
				}
				p.done(`{"text":"x"}`)
			}
		}}},
	})
	e := runs(t, s, "go")
	require.NoError(t, e.err)
	probes, requests := 0, 0
	for _, d := range e.decided() {
		switch {
		case d.Question.Kind != permission.Collaborate:
		case d.Question.Probe:
			probes++
			require.Equal(t, "user", d.Verdict.By)
		default:
			if requests == 0 {
				require.Equal(t, "user", d.Verdict.By, "the grant for the probe does not count")
			}
			requests++
		}
	}
	require.Equal(t, 1, probes)
	require.Equal(t, len(bodies), requests)
}
