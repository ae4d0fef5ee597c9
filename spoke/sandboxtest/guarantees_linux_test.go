package sandboxtest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
	"github.com/isolategpt/isolategpt/spoke/sandboxtest"
)

// A program under the race detector takes a second to exit, but none to obey
// SIGTERM.
var quick = spoke.ProcessConfig{Grace: 50 * time.Millisecond}

func process(t *testing.T) spoke.Launcher {
	t.Helper()
	l := spoke.Process(quick)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	return l
}

// holds tries to break one guarantee in every way that there is.
func holds(t *testing.T, g isc.Guarantees) {
	t.Helper()
	var names []string
	for _, p := range sandboxtest.Attacks() {
		if p.Guarantee.Has(g) {
			names = append(names, p.Name)
		}
	}
	rows, err := sandboxtest.Run(t.Context(), sandboxtest.Config{
		Confined: process(t), Control: sandboxtest.Unconfined(), Attacks: names, Require: g,
	})
	require.NoError(t, err)
	counted := 0
	for _, r := range rows {
		require.True(t, r.Claimed, "%s: %s is required", r.Attack, g)
		require.True(t, r.Refused, "%s works: %s", r.Attack, r.Detail)
		if r.Counts() {
			counted++
		}
	}
	require.Positive(t, counted, "no attack on %s works unconfined", g)
}

func TestGuaranteeMemoryIsolationHolds(t *testing.T) { holds(t, isc.MemoryIsolation) }
func TestGuaranteeKillableHolds(t *testing.T)        { holds(t, isc.Killable) }
func TestGuaranteeDiesWithHubHolds(t *testing.T)     { holds(t, isc.DiesWithHub) }
func TestGuaranteeCleanEnvHolds(t *testing.T)        { holds(t, isc.CleanEnv) }
func TestGuaranteeNoNetworkHolds(t *testing.T)       { holds(t, isc.NoNetwork) }
func TestGuaranteeNoFilesHolds(t *testing.T)         { holds(t, isc.NoFiles) }
func TestGuaranteeNoExecHolds(t *testing.T)          { holds(t, isc.NoExec) }
func TestGuaranteeNoPeersHolds(t *testing.T)         { holds(t, isc.NoPeers) }
func TestGuaranteeMemoryLimitHolds(t *testing.T)     { holds(t, isc.MemoryLimit) }
func TestGuaranteeNoSecretsHolds(t *testing.T)       { holds(t, isc.NoSecrets) }
func TestGuaranteeHubOnlyHolds(t *testing.T)         { holds(t, isc.HubOnly) }
