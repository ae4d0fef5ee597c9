package main

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke/sandboxtest"
)

func TestMain(m *testing.M) {
	sandboxtest.Main()
	testscript.Main(checked{m}, map[string]func(){"sandbox": main})
}

// checked looks for goroutines that the tests left behind.
type checked struct{ m *testing.M }

func (c checked) Run() int {
	code := c.m.Run()
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, "sandbox:", err)
		return 1
	}
	return code
}

func TestProgram(t *testing.T) { testscript.Run(t, testscript.Params{Dir: "testdata/script"}) }

func TestTheTableSaysWhatIsBroken(t *testing.T) {
	rows := []sandboxtest.Row{
		{Attack: "a", Refused: true, Control: true, Guarantee: isc.NoFiles, Claimed: true},
		{Attack: "b", Control: true, Guarantee: isc.NoFiles, Claimed: true},
		{Attack: "c", Control: true, Guarantee: isc.NoFiles},
		{Attack: "d", Refused: true, Guarantee: isc.NoFiles, Claimed: true},
		{Attack: "e", Control: true},
	}
	var out bytes.Buffer
	writeTable(&out, []isolationRun{{Name: "box", Rows: rows}})
	require.Equal(t, `
ATTACK  box      BREAKS
a       refused  no-files
b       BROKEN   no-files
c       works    no-files
d       -        no-files
e       works    nothing that is promised

box: of 5 attacks 1 refused, 1 possible nowhere on this machine, 3 worked, 1 OF THEM AGAINST WHAT IS CLAIMED
`, out.String())
}
