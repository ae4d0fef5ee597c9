package foreign_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
	"github.com/isolategpt/isolategpt/spoke/foreign"
)

func TestBadAppsAreRefused(t *testing.T) {
	good := isc.Manifest{ID: "tool", Name: "Tool"}
	for name, c := range map[string]struct {
		manifest isc.Manifest
		cfg      foreign.Config
		want     string
	}{
		"no manifest":      {isc.Manifest{}, foreign.Config{Path: "/x"}, "isc: manifest"},
		"no program":       {good, foreign.Config{}, "no program"},
		"hosts of its own": {good, foreign.Config{Path: "/x", Hosts: []string{"a.example"}}, "in the manifest"},
		"nobody asks":      {good, foreign.Config{Path: "/x", Authorize: func(context.Context, string) error { return nil }}, "in the manifest"},
		"another app's":    {good, foreign.Config{Path: "/x", App: "mail"}, `App is "mail"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := foreign.NewApp(c.manifest, c.cfg)
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestNobodyVouchesForAnApp(t *testing.T) {
	a, err := foreign.NewApp(isc.Manifest{ID: "tool", Name: "Tool", Vouched: true}, foreign.Config{Path: "/x"})
	require.NoError(t, err)
	require.False(t, a.Manifest().Vouched)
	require.Equal(t, isc.AppID("tool"), a.Manifest().ID)
}

// TestAnAppRunsInItsLauncherAlone: another launcher would start its program in
// nothing that anybody showed, so it serves nothing there.
func TestAnAppRunsInItsLauncherAlone(t *testing.T) {
	a, err := foreign.NewApp(isc.Manifest{ID: "tool", Name: "Tool"}, foreign.Config{Path: "/x"})
	require.NoError(t, err)
	_, err = a.Handle(t.Context(), spoke.Call{})
	require.ErrorIs(t, err, foreign.ErrLauncher)
}

func TestLauncherStartsNothingButApps(t *testing.T) {
	other, err := spoke.New(isc.Manifest{ID: "mine", Name: "Mine"})
	require.NoError(t, err)
	for _, spec := range []spoke.Spec{{}, {App: other}, {App: (*foreign.App)(nil)}} {
		_, err := foreign.Launcher{}.Launch(t.Context(), spec)
		unmet, ok := errors.AsType[*spoke.UnmetError](err)
		require.True(t, ok, "%v", err)
		require.Equal(t, isc.FullIsolation, unmet.Missing)
	}
	i, err := foreign.Launcher{Other: spoke.InProcess()}.Launch(t.Context(), spoke.Spec{App: other})
	require.NoError(t, err)
	require.NoError(t, i.Conn.Close())
}
