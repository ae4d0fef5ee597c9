package spoketest

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
)

// hubCases are about what a handler asks of the hub.
var hubCases = []testCase{
	{"another functionality is probed, requested and given", func(t *testing.T, l spoke.Launcher) {
		d := begin(t, l, "note.use", "rivers")
		require.Equal(t, isc.Probe{Functionality: "page.find"}, expect[isc.Probe](d))
		o := offer()
		d.send(o)
		r := expect[isc.Request](d)
		require.Len(t, r.Calls, 1)
		require.Equal(t, o.Handle, r.Calls[0].Handle)
		require.JSONEq(t, `{"text":"rivers"}`, string(r.Calls[0].Body))
		d.send(isc.Response{Bodies: []json.RawMessage{json.RawMessage(`{"text":"the Rhine"}`)}})
		require.JSONEq(t, `{"text":"the Rhine"}`, d.done())
		require.Equal(t, []string{"asking"}, d.progress)
	}},
	{"a refusal at the probe is a status", func(t *testing.T, l spoke.Launcher) {
		d := begin(t, l, "note.use", "x")
		expect[isc.Probe](d)
		d.send(isc.Refused{})
		d.ended(isc.StatusRefused)
	}},
	{"a refusal at the request is the same status", func(t *testing.T, l spoke.Launcher) {
		d := begin(t, l, "note.use", "x")
		expect[isc.Probe](d)
		d.send(offer())
		expect[isc.Request](d)
		d.send(isc.Refused{})
		d.ended(isc.StatusRefused)
	}},
	{"a call of a batch without an answer is the same status", func(t *testing.T, l spoke.Launcher) {
		d := begin(t, l, "note.use", "x")
		expect[isc.Probe](d)
		d.send(offer())
		expect[isc.Request](d)
		d.send(isc.Response{Bodies: []json.RawMessage{nil}})
		d.ended(isc.StatusRefused)
	}},
	{"a request that misfits the offer is not sent", func(t *testing.T, l spoke.Launcher) {
		d := begin(t, l, "note.use", "x")
		expect[isc.Probe](d)
		o := offer()
		o.Request = json.RawMessage(`{"type":"object","properties":{"page":{"type":"integer"}},"required":["page"],"additionalProperties":false}`)
		d.send(o)
		d.ended(isc.StatusFailed)
	}},
	{"a response that misfits the offer does not reach the handler", func(t *testing.T, l spoke.Launcher) {
		d := begin(t, l, "note.use", "x")
		expect[isc.Probe](d)
		d.send(offer())
		expect[isc.Request](d)
		d.send(isc.Response{Bodies: []json.RawMessage{json.RawMessage(`{"text":"x","more":1}`)}})
		d.ended(isc.StatusRefused)
	}},
	{"data is given by name", func(t *testing.T, l spoke.Launcher) {
		d := begin(t, l, "note.need", "birthday")
		require.Equal(t, []isc.DataField{{Name: "birthday", Purpose: "to write it down"}}, expect[isc.NeedData](d).Fields)
		d.send(isc.Data{Values: []isc.Datum{{Name: "birthday", Body: json.RawMessage(`"2000-01-02"`)}}})
		require.JSONEq(t, `{"text":"\"2000-01-02\""}`, d.done())
	}},
	{"data that nobody gave is missing", func(t *testing.T, l spoke.Launcher) {
		for _, reply := range []isc.ToSpoke{isc.Data{}, isc.Refused{}} {
			d := begin(t, l, "note.need", "birthday")
			expect[isc.NeedData](d)
			d.send(reply)
			d.ended(isc.StatusMissing)
		}
	}},
	{"data that was not asked for ends the spoke", func(t *testing.T, l spoke.Launcher) {
		for _, names := range [][]string{{"income"}, {"birthday", "birthday"}} {
			d := begin(t, l, "note.need", "birthday")
			expect[isc.NeedData](d)
			var data isc.Data
			for _, n := range names {
				data.Values = append(data.Values, isc.Datum{Name: n, Body: json.RawMessage(`1`)})
			}
			d.send(data)
			d.gone()
		}
	}},
	{"an act is confirmed with its canonical bytes", func(t *testing.T, l spoke.Launcher) {
		d := begin(t, l, "note.confirm", "bob")
		c := expect[isc.Confirm](d)
		require.Equal(t, `{"amount":5,"to":"bob"}`, string(c.Body))
		d.send(isc.Confirmed{Digest: isc.DigestOf(c.Body)})
		require.JSONEq(t, `{"text":"bob"}`, d.done())
	}},
	{"an act that is refused is a status", func(t *testing.T, l spoke.Launcher) {
		d := begin(t, l, "note.confirm", "bob")
		expect[isc.Confirm](d)
		d.send(isc.Refused{})
		d.ended(isc.StatusRefused)
	}},
	{"P5 the confirmation of other bytes ends the spoke", func(t *testing.T, l spoke.Launcher) {
		d := begin(t, l, "note.confirm", "bob")
		expect[isc.Confirm](d)
		d.send(isc.Confirmed{Digest: isc.DigestOf([]byte(`{"amount":500,"to":"eve"}`))})
		d.gone()
	}},
	{"whatever is not the one legal reply ends the spoke", func(t *testing.T, l spoke.Launcher) {
		for _, reply := range []isc.ToSpoke{
			isc.Task{Kind: isc.TaskCall, Functionality: "note.echo", Body: json.RawMessage(`{"text":"x"}`)},
			isc.Response{Bodies: []json.RawMessage{json.RawMessage(`{"text":"x"}`)}}, isc.Data{}, isc.Confirmed{Digest: isc.DigestOf([]byte("x"))},
		} {
			d := begin(t, l, "note.use", "x")
			expect[isc.Probe](d)
			d.send(reply)
			d.gone()
		}
	}},
	{"a reply that nobody waits for ends the spoke", func(t *testing.T, l spoke.Launcher) {
		for _, m := range []isc.ToSpoke{isc.Refused{}, offer(), isc.Data{}} {
			spec, _ := plain(t)
			d := launch(t, l, spec)
			d.send(m)
			d.gone()
		}
	}},
	{"what a handler may ask is bounded", func(t *testing.T, l spoke.Launcher) {
		spec, _ := plain(t)
		spec.Limits.MaxCalls = 5
		d := launch(t, l, spec)
		body := json.RawMessage(`{"text":"x"}`)
		d.send(isc.Task{Kind: isc.TaskCall, Functionality: "note.flood", Body: body})
		for range 5 {
			expect[isc.Probe](d)
			d.send(isc.Refused{})
		}
		d.ended(isc.StatusBudget)
		d.send(isc.Task{Kind: isc.TaskCall, Functionality: "note.flood", Body: body, MaxCalls: 2})
		for range 2 {
			expect[isc.Probe](d)
			d.send(isc.Refused{})
		}
		d.ended(isc.StatusBudget)
	}},
}

// begin launches the suite's app and calls it.
func begin(t *testing.T, l spoke.Launcher, name isc.FunctionalityName, text string) *driver {
	t.Helper()
	spec, _ := plain(t)
	d := launch(t, l, spec)
	d.call(name, text)
	return d
}

// gone demands that the connection ends, by error and at once.
func (d *driver) gone() {
	d.Helper()
	m, err := d.recv()
	require.Error(d, err, "got %+v", m)
	require.Nil(d, m)
}
