package spoketest

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
)

// unheard is a guarantee that no isolation gives.
const unheard isc.Guarantees = 1 << 31

// isolationCases are about what a launcher says of its spokes.
var isolationCases = []testCase{
	{"an isolation has a name and claims only guarantees that there are", func(t *testing.T, l spoke.Launcher) {
		i := launch(t, l, spoke.Spec{App: workshop()}).instance.Isolation
		require.NotEmpty(t, i.Name)
		text, err := i.Has.MarshalText()
		require.NoError(t, err)
		var again isc.Guarantees
		require.NoError(t, again.UnmarshalText(text))
		require.Equal(t, i.Has, again)
		for _, layer := range i.Layers {
			require.NotEmpty(t, layer.Name)
			require.True(t, layer.Applied || layer.Detail != "", "layer %s: why not?", layer.Name)
		}
	}},
	{"what is required and not had starts nothing", func(t *testing.T, l spoke.Launcher) {
		i, err := l.Launch(t.Context(), spoke.Spec{App: workshop(), Require: unheard})
		require.Nil(t, i)
		unmet, ok := errors.AsType[*spoke.UnmetError](err)
		require.True(t, ok, "got %v", err)
		require.Equal(t, isc.AppID("workshop"), unmet.App)
		require.Equal(t, unheard, unmet.Missing)
		require.NotEmpty(t, unmet.Isolation.Name)
	}},
	{"what is required and had is given", func(t *testing.T, l spoke.Launcher) {
		has := launch(t, l, spoke.Spec{App: workshop()}).instance.Isolation.Has
		d := launch(t, l, spoke.Spec{App: workshop(), Require: has})
		require.True(t, d.instance.Isolation.Has.Has(has))
	}},
	{"what is preferred and not had is said, and the spoke runs", func(t *testing.T, l spoke.Launcher) {
		d := launch(t, l, spoke.Spec{App: workshop(), Prefer: unheard})
		i := d.instance.Isolation
		require.True(t, i.Lacks.Has(unheard))
		require.Zero(t, i.Has&i.Lacks, "it cannot both have and lack")
		require.NotEmpty(t, i.Degraded())
		d.call("note.echo", "here")
		require.JSONEq(t, `{"text":"here"}`, d.done())
	}},
}
