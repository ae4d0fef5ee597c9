package spoketest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/llm/llmtest"
	"github.com/isolategpt/isolategpt/spoke"
)

// callCases are about functionalities with handlers.
var callCases = []testCase{
	{"a call runs the handler and no model", func(t *testing.T, l spoke.Launcher) {
		spec, model := plain(t)
		d := launch(t, l, spec)
		d.call("note.echo", "héllo <b>\u2028\"")
		require.JSONEq(t, `{"text":"héllo <b>\u2028\""}`, d.done())
		require.Empty(t, model.Requests())
	}},
	{"a spoke without a model serves calls", func(t *testing.T, l spoke.Launcher) {
		d := launch(t, l, spoke.Spec{App: workshop()})
		d.call("note.echo", "x")
		require.JSONEq(t, `{"text":"x"}`, d.done())
		d.call("note.advise", "x")
		d.ended(isc.StatusFailed)
	}},
	{"a follow-up goes to the same warm spoke", func(t *testing.T, l spoke.Launcher) {
		spec, _ := plain(t)
		d := launch(t, l, spec)
		for range 3 {
			d.call("note.echo", "again")
			require.JSONEq(t, `{"text":"again"}`, d.done())
		}
	}},
	{"a call that the hub gated is not confirmed again", func(t *testing.T, l spoke.Launcher) {
		spec, _ := plain(t)
		d := launch(t, l, spec)
		d.send(isc.Task{Kind: isc.TaskCall, Functionality: "note.pay", Body: json.RawMessage(`{"to":"bob","amount":3}`)})
		require.JSONEq(t, `{"paid":3}`, d.done())
	}},
	{"a request that does not fit never reaches the handler", func(t *testing.T, l spoke.Launcher) {
		spec, _ := plain(t)
		d := launch(t, l, spec)
		for _, body := range []string{`{}`, `{"text":1}`, `{"text":"x","more":1}`, `[]`, `"x"`, `null`} {
			d.send(isc.Task{Kind: isc.TaskCall, Functionality: "note.echo", Body: json.RawMessage(body)})
			d.ended(isc.StatusFailed)
		}
		d.send(isc.Task{Kind: isc.TaskCall, Functionality: "note.pay", Body: json.RawMessage(`{"to":"bob","amount":501}`)})
		d.ended(isc.StatusFailed)
	}},
	{"a response that does not fit never leaves the spoke", func(t *testing.T, l spoke.Launcher) {
		spec, _ := plain(t)
		d := launch(t, l, spec)
		for _, name := range []isc.FunctionalityName{"note.wrong", "note.garbage"} {
			d.call(name, "x")
			d.ended(isc.StatusFailed)
		}
	}},
	{"an unknown functionality fails", func(t *testing.T, l spoke.Launcher) {
		spec, _ := plain(t)
		d := launch(t, l, spec)
		d.call("note.none", "x")
		d.ended(isc.StatusFailed)
	}},
	{"B10 errors and panics are typed codes whose text never crosses", func(t *testing.T, l spoke.Launcher) {
		spec, _ := plain(t)
		d := launch(t, l, spec)
		for _, name := range []isc.FunctionalityName{"note.fail", "note.panic"} {
			d.call(name, "x")
			r := expect[isc.Result](d)
			require.Equal(t, isc.Result{Status: isc.StatusFailed}, r)
			raw, err := json.Marshal(r)
			require.NoError(t, err)
			require.False(t, strings.Contains(string(raw), "ssh"))
		}
		d.call("note.echo", "still there")
		require.JSONEq(t, `{"text":"still there"}`, d.done())
	}},
	{"a vanilla spoke has no functionality", func(t *testing.T, l spoke.Launcher) {
		d := launch(t, l, spoke.Spec{LLM: llmtest.NewScript(t)})
		d.call("note.echo", "x")
		d.ended(isc.StatusFailed)
	}},
}
