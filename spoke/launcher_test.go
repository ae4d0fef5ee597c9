package spoke_test

import (
	"testing"
	"time"

	"github.com/isolategpt/isolategpt/spoke"
	"github.com/isolategpt/isolategpt/spoke/spoketest"
)

func TestInProcess(t *testing.T) {
	spoketest.TestLauncher(t, func(testing.TB) spoke.Launcher { return spoke.InProcess() })
}

func TestProcess(t *testing.T) {
	if !hasProcesses {
		t.Skip("no Unix processes here")
	}
	// A program under the race detector takes a second to exit, but none to obey
	// SIGTERM.
	cfg := spoke.ProcessConfig{Grace: 300 * time.Millisecond}
	spoketest.TestLauncher(t, func(testing.TB) spoke.Launcher { return spoke.Process(cfg) })
}
