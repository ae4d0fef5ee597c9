package spoketest

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/llm/llmtest"
	"github.com/isolategpt/isolategpt/memory"
	"github.com/isolategpt/isolategpt/spoke"
)

// patience bounds every wait of the suite.
const patience = 20 * time.Second

// TestLauncher runs the suite on the launchers that newLauncher makes, one a
// case. It checks that each case leaves no goroutine behind.
func TestLauncher(t *testing.T, newLauncher func(testing.TB) spoke.Launcher) {
	for _, group := range [][]testCase{callCases, hubCases, fetchCases, agentCases, isolationCases, endCases} {
		for _, c := range group {
			t.Run(c.name, func(t *testing.T) {
				current := goleak.IgnoreCurrent()
				t.Cleanup(func() {
					if !t.Failed() {
						goleak.VerifyNone(t, current)
					}
				})
				c.run(t, newLauncher(t))
			})
		}
	}
}

type testCase struct {
	name string
	run  func(*testing.T, spoke.Launcher)
}

// driver is the hub's place at a spoke's connection.
type driver struct {
	*testing.T
	instance *spoke.Instance
	progress []string
}

// launch starts a spoke and ends it with the test.
func launch(t *testing.T, l spoke.Launcher, spec spoke.Spec) *driver {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	instance, err := l.Launch(ctx, spec)
	require.NoError(t, err)
	require.NotEmpty(t, instance.Isolation.Name)
	t.Cleanup(func() { require.NoError(t, instance.Conn.Close()) })
	return &driver{T: t, instance: instance}
}

// plain is the suite's app with a model of these turns, with native tools.
func plain(t *testing.T, turns ...llmtest.Turn) (spoke.Spec, *llmtest.Script) {
	m := llmtest.NewScript(t, turns...)
	return spoke.Spec{App: workshop(), LLM: m, Memory: fresh()}, m
}

// bare is a model without native tools or schemas.
func bare(t *testing.T, turns ...llmtest.Turn) *llmtest.Script {
	return llmtest.NewScript(t, turns...).Can(llm.Capabilities{})
}

func fresh() memory.View {
	return memory.NewView(memory.InMemory(), memory.AppScope("ann", "workshop"))
}

func (d *driver) send(m isc.ToSpoke) {
	d.Helper()
	ctx, cancel := context.WithTimeout(d.Context(), patience)
	defer cancel()
	require.NoError(d, d.instance.Conn.Send(ctx, m))
}

// recv is the next message that is no progress.
func (d *driver) recv() (isc.ToHub, error) {
	d.Helper()
	ctx, cancel := context.WithTimeout(d.Context(), patience)
	defer cancel()
	for {
		m, err := d.instance.Conn.Recv(ctx)
		require.NotErrorIs(d, err, context.DeadlineExceeded, "the spoke keeps silent")
		if p, ok := m.(isc.Progress); ok {
			d.progress = append(d.progress, p.Text)
			continue
		}
		return m, err
	}
}

// expect is the next message, which must be an M.
func expect[M isc.ToHub](d *driver) M {
	d.Helper()
	m, err := d.recv()
	require.NoError(d, err)
	out, ok := m.(M)
	require.True(d, ok, "got a %T: %+v", m, m)
	return out
}

// call asks for a functionality over a text.
func (d *driver) call(name isc.FunctionalityName, text string) {
	d.Helper()
	body, err := json.Marshal(Note{Text: text})
	require.NoError(d, err)
	d.send(isc.Task{Kind: isc.TaskCall, Functionality: name, Body: body})
}

// done is the result's body; anything else fails the test.
func (d *driver) done() string {
	d.Helper()
	r := expect[isc.Result](d)
	require.Equal(d, isc.StatusDone, r.Status)
	return string(r.Body)
}

// ended demands a result of that status, and with it nothing.
func (d *driver) ended(status isc.Status) {
	d.Helper()
	r := expect[isc.Result](d)
	require.Equal(d, status, r.Status)
	require.Empty(d, r.Body)
}

var noteSchema = noteFormat.Schema()

func offer() isc.Offer {
	return isc.Offer{Handle: isc.NewHandle(), Request: noteSchema, Response: noteSchema}
}

var known = isc.Known{Functionality: "page.find", Description: "finds a page", Request: noteSchema, Response: noteSchema}
