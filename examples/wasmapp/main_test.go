package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/isolategpt/isolategpt/hub"
	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/permission"
	"github.com/isolategpt/isolategpt/spoke"
	"github.com/isolategpt/isolategpt/spoke/wasm"
)

func TestMain(m *testing.M) {
	spoke.Main()
	goleak.VerifyTestMain(m)
}

// agreeing is a person who allows what is asked.
var agreeing = permission.PrompterFunc(func(_ context.Context, r permission.Request) (permission.Answer, error) {
	return r.Answer(permission.AllowOnce), nil
})

func TestWasmapp(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds two programs")
	}
	for _, wanted := range []string{inWasm, strongest} {
		t.Run(wanted, func(t *testing.T) {
			if underRace && wanted == inWasm {
				t.Skip("interpreting a Go program under the race detector takes too long")
			}
			p, err := install(t.Context(), t.TempDir(), wanted)
			require.NoError(t, err)
			defer p.close()
			answer, isolation, err := ask(t.Context(), p, agreeing)
			require.NoError(t, err)
			require.Equal(t, "It has 9 words. The app saw 0 files and 0 variables.", answer)
			require.True(t, isolation.Has.Has(isc.FullIsolation), "%s", isolation)
			require.Equal(t, wanted == strongest && p.note == nil, isolation.Name == "process")
		})
	}
}

// TestNothingOfTheModuleRunsBeforeItIsLaunched holds that in process mode the
// module is a stranger to this program: it may as well be none.
func TestNothingOfTheModuleRunsBeforeItIsLaunched(t *testing.T) {
	declared, err := isc.DecodeManifest(manifest)
	require.NoError(t, err)
	app, err := wasm.New([]byte("no module"), wasm.Config{Manifest: &declared})
	require.NoError(t, err)
	h, err := hub.New(hub.Config{LLM: canned, Apps: []spoke.App{app}, Launcher: boxes("/nowhere")})
	require.NoError(t, err)
	h.Close()
}

// TestWhereNoProcessIsToBeHad holds that whoever asks for one is told, and that
// whoever asks for the best is told what it is.
func TestWhereNoProcessIsToBeHad(t *testing.T) {
	declared, err := isc.DecodeManifest(manifest)
	require.NoError(t, err)
	app, err := wasm.New([]byte("no module"), wasm.Config{Manifest: &declared})
	require.NoError(t, err)
	p := installed{app: app, launcher: wasm.Launcher{}}
	got, err := p.in(t.Context(), boxes("/nowhere"), strongest)
	require.NoError(t, err)
	require.Error(t, got.note)
	require.NotContains(t, got.note.Error(), "nil")
	require.Equal(t, spoke.Launcher(wasm.Launcher{}), got.launcher)
	_, err = p.in(t.Context(), boxes("/nowhere"), process)
	require.ErrorContains(t, err, "-isolation process: ")
	require.NotContains(t, err.Error(), "nil")
}

func TestAnAnswerThatLacksSomethingIsAnError(t *testing.T) {
	done := hub.Answer{Steps: []hub.StepOutcome{{Step: "s1", Status: isc.StatusDone}}}
	require.NoError(t, complete(done, true))
	require.Error(t, complete(done, false))
	for _, a := range []hub.Answer{
		{Refused: true},
		{Missing: []string{"x"}},
		{Steps: []hub.StepOutcome{{Step: "s1", Status: isc.StatusFailed}}},
	} {
		require.Error(t, complete(a, true))
	}
}

func TestWithoutTheGoTool(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := install(t.Context(), t.TempDir(), inWasm)
	require.ErrorIs(t, err, errNoGo)
}

func TestArguments(t *testing.T) {
	t.Setenv("PATH", t.TempDir()) // nothing is built before they are checked
	for args, want := range map[string]struct {
		exit int
		text string
	}{
		"-help":            {exitDone, "-isolation"},
		"-isolation a-box": {exitUsage, "there are strongest, process and wasm"},
		"-in wasm":         {exitUsage, "not defined: -in"},
		"wasm":             {exitUsage, "there are only flags"},
		"-isolation wasm":  {exitWrong, errNoGo.Error()},
	} {
		var out, errOut bytes.Buffer
		require.Equal(t, want.exit, run(strings.Fields(args), os.Stdin, &out, &errOut), args)
		require.Contains(t, errOut.String(), want.text, args)
		require.Empty(t, out.String())
	}
}
