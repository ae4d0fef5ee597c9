package spoke_test

import (
	"testing"

	"github.com/stretchr/testify/require"

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
	for name, cfg := range everyKind() {
		t.Run(name, func(t *testing.T) {
			spoketest.TestLauncher(t, func(testing.TB) spoke.Launcher { return spoke.Process(cfg) })
		})
	}
}

func TestProcessKeptReady(t *testing.T) {
	cfg, ok := everyKind()["confined"]
	if !ok {
		t.Skip("no confinement here")
	}
	cfg.Warm = 1
	spoketest.TestLauncher(t, func(t testing.TB) spoke.Launcher {
		l := spoke.Process(cfg)
		t.Cleanup(func() { require.NoError(t, l.Close()) })
		return l
	})
}
