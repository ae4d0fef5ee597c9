package foreign_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/hub"
	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/memory"
	"github.com/isolategpt/isolategpt/permission"
	"github.com/isolategpt/isolategpt/spoke"
	"github.com/isolategpt/isolategpt/spoke/foreign"
)

func TestAProgramIsAnAppOfAHub(t *testing.T) {
	d := open(t, pythonApp(t, tool()), func(cfg *hub.Config) {
		cfg.Memory = memory.InMemory()
		require.NoError(t, memory.NewView(cfg.Memory, memory.HubScope("ada")).Append(t.Context(), memory.Record{
			Kind: memory.Entity, Key: "home", Value: json.RawMessage(`"Main Street 1"`), Label: isc.UserLabel(), Time: time.Now(),
		}))
	})
	d.person.answer = permission.AllowOnce
	answer, events := d.ask(t, "echo <hello> \u2028")
	require.Contains(t, answer.Text, "<hello> ")

	var launched []hub.Launched
	for _, e := range events {
		if l, ok := e.(hub.Launched); ok {
			launched = append(launched, l)
		}
	}
	require.Len(t, launched, 1)
	require.Equal(t, "program", launched[0].Isolation.Name)
	full := isc.FullIsolation.Without(waived())
	require.True(t, launched[0].Isolation.Has.Has(full), launched[0].Isolation)
	require.Len(t, d.Report(), 1)
	require.Equal(t, launched[0].Isolation, d.Report()[0].Isolation)
	for _, r := range d.trail.Records() {
		if r.Event == "launch" {
			require.Equal(t, "program", r.Detail)
			require.True(t, r.Has.Has(full))
		}
	}

	d.says(t, "calls x", "2") // of the same program
	d.says(t, "use milk", "note of milk")
	d.says(t, "need home", "Main Street 1")
	d.says(t, "confirm x", "True")
	d.says(t, "progress x", "told")
	d.ends(t, "missing", isc.StatusMissing)
	d.ends(t, "budget", isc.StatusBudget)
	d.ends(t, "refused", isc.StatusRefused)
	d.ends(t, "failed", isc.StatusFailed)

	d.person.answer = permission.Deny
	d.ends(t, "confirm y", isc.StatusRefused)
	d.says(t, "calls x", "12")
}

// TestEachSpokeHasItsOwnProgram: no session sees what another one left there.
func TestEachSpokeHasItsOwnProgram(t *testing.T) {
	a := pythonApp(t, tool())
	for range 2 {
		open(t, a).says(t, "calls x", "1")
	}
}

func TestAProgramThatMustHaveMoreThanItHasIsNotStarted(t *testing.T) {
	a := pythonApp(t, tool())
	const unknown isc.Guarantees = 1 << 31
	_, err := foreign.Launcher{}.Launch(t.Context(), spoke.Spec{App: a, Require: unknown})
	unmet, ok := errors.AsType[*spoke.UnmetError](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, unknown, unmet.Missing)
	require.Equal(t, isc.AppID("tool"), unmet.App)
}

// TestAHostileProgramEndsItsSpokeAndNothingElse: whatever it says, the step tells
// how it ended, and the hub serves on with a new one.
func TestAHostileProgramEndsItsSpokeAndNothingElse(t *testing.T) {
	a := pythonApp(t, tool())
	for name, c := range map[string]struct {
		query string
		line  bool
		state string
	}{
		"garbage":                {"raw garbage", true, "killed"},
		"two members":            {`raw {"result":{"text":"x"},"error":"failed"}`, true, "killed"},
		"an unknown error":       {`raw {"error":"secret"}`, true, "killed"},
		"a key twice":            {`raw {"result":{"text":"x"},"result":{"text":"y"}}`, true, "killed"},
		"an empty line":          {"raw ", true, "killed"},
		"a line of 2 MiB":        {"long x", true, "killed"},
		"an end":                 {"exit 7", false, "exit status 7"},
		"a closed output":        {"close x", true, "killed"},
		"a closed input":         {"deaf x", true, "killed"},
		"a question after a bad": {`raw {"progress":"x","use":null}`, true, "killed"},
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t, a)
			out := d.ends(t, c.query, isc.StatusFailed)
			died, ok := errors.AsType[*spoke.ProcessError](out.Err)
			require.True(t, ok, "%v", out.Err)
			require.Equal(t, c.line, errors.Is(died, foreign.ErrLine), "%v", died.Err)
			require.Equal(t, isc.AppID("tool"), died.App)
			require.Contains(t, died.State, c.state)
			require.NotContains(t, died.Err.Error(), "garbage")
			d.says(t, "echo again", "again")
		})
	}
}

func TestAProgramThatAnswersTwiceEndsBeforeItsNextCall(t *testing.T) {
	d := open(t, pythonApp(t, tool()))
	d.says(t, "twice x", "early")
	require.Eventually(t, func() bool { // its second answer may be on its way
		a, _ := d.ask(t, "echo other")
		return a.Steps[0].Status == isc.StatusFailed
	}, 10*time.Second, time.Millisecond)
	d.says(t, "echo again", "again")
}

func TestASilentProgramIsEndedByTheHub(t *testing.T) {
	d := open(t, pythonApp(t, tool()), func(cfg *hub.Config) { cfg.Limits.Silence = 300 * time.Millisecond })
	out := d.ends(t, "silence x", isc.StatusFailed)
	_, lost := errors.AsType[*hub.LostError](out.Err)
	require.True(t, lost, "%v", out.Err)
	d.says(t, "echo again", "again")
}

// TestDeathBetweenCallsEndsTheConnection: Recv tells of it while nothing is asked.
func TestDeathBetweenCallsEndsTheConnection(t *testing.T) {
	a, err := foreign.NewApp(tool(), python(t).script(t, "die.py", "import sys, os; sys.stdin.readline(); os._exit(3)"))
	require.NoError(t, err)
	i, err := foreign.Launcher{}.Launch(t.Context(), spoke.Spec{App: a})
	require.NoError(t, err)
	require.NoError(t, i.Conn.Send(t.Context(), isc.Task{Kind: isc.TaskCall, Functionality: "tool.work", Body: json.RawMessage(`{"text":"x"}`)}))
	_, err = i.Conn.Recv(t.Context())
	died, ok := errors.AsType[*spoke.ProcessError](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, "exit status 3", died.State)
	require.NoError(t, i.Conn.Close())

	cfg := python(t).script(t, "die.py", "import os; os._exit(4)")
	a, err = foreign.NewApp(tool(), cfg)
	require.NoError(t, err)
	i, err = foreign.Launcher{}.Launch(t.Context(), spoke.Spec{App: a})
	require.NoError(t, err)
	_, err = i.Conn.Recv(t.Context())
	died, ok = errors.AsType[*spoke.ProcessError](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, "exit status 4", died.State)
	require.NoError(t, i.Conn.Close())
	require.NoError(t, i.Conn.Close())
}
