package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/isolategpt/isolategpt/examples/casestudies/cases"
	"github.com/isolategpt/isolategpt/spoke"
)

func TestMain(m *testing.M) {
	spoke.Main(cases.Spokes()...)
	testscript.Main(checked{m}, map[string]func(){"casestudies": main})
}

// checked looks for goroutines that the tests left behind.
type checked struct{ m *testing.M }

func (c checked) Run() int {
	code := c.m.Run()
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, "casestudies:", err)
		return 1
	}
	return code
}

func TestProgram(t *testing.T) { testscript.Run(t, testscript.Params{Dir: "testdata/script"}) }

func TestExitCodes(t *testing.T) {
	for args, want := range map[string]int{
		"-help":                        exitDone,
		"-case 1 -system vanilla":      exitDone,
		"-case 9":                      exitUsage,
		"-consent maybe":               exitUsage,
		"-llm openai":                  exitUsage,
		"-nonsense":                    exitUsage,
		"-base-url http://127.0.0.1:1": exitUsage,
	} {
		var out, errOut bytes.Buffer
		require.Equal(t, want, run(strings.Fields(args), strings.NewReader(""), &out, &errOut), args)
		require.Equal(t, want == exitUsage, strings.HasPrefix(errOut.String(), "casestudies: "), args)
	}
}

// A model that cannot be reached is a plain refusal of both systems, not an end
// of the program.
func TestUnreachableModelIsARefusal(t *testing.T) {
	var out, errOut bytes.Buffer
	code := run([]string{"-llm", "ollama:m", "-base-url", "http://127.0.0.1:1/v1", "-json"}, strings.NewReader(""), &out, &errOut)
	require.Equal(t, exitDone, code, errOut.String())
	require.Equal(t, 14, strings.Count(out.String(), `"answer":"I could not do this: `))
	require.NotContains(t, out.String(), `"attack_succeeded":true`)
}

func TestWrap(t *testing.T) {
	for text, want := range map[string][]string{
		"":                {""},
		"one two three":   {"one two", "three"},
		"abcdefghij":      {"abcdefgh", "ij"},
		"äöüäöüäöü":       {"äöüäöüäö", "ü"},
		"a abcdefghij bc": {"a", "abcdefgh", "ij bc"},
	} {
		require.Equal(t, want, wrap(text, 8), text)
	}
}

// An app cannot draw on the terminal.
func TestAnswersAreShownAsText(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, printCase(&out, cases.All()[0], []*report{{Answer: "a\x1b[2Kb\nc\u202ed", Because: "\x07"}}))
	require.NotContains(t, out.String(), "\x1b")
	require.NotContains(t, out.String(), "\u202e")
	require.NotContains(t, out.String(), "\x07")
	require.Contains(t, out.String(), "b\n")
}
