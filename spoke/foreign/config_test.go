package foreign_test

import (
	"errors"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/spoke/foreign"
)

func TestBadConfigurationsAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		cfg  foreign.Config
		want string
	}{
		"no program":        {foreign.Config{}, "no program"},
		"little memory":     {foreign.Config{Path: "/x", Memory: foreign.MinMemory - 1}, "the least is"},
		"negative memory":   {foreign.Config{Path: "/x", Memory: -1}, "the least is"},
		"zero byte":         {foreign.Config{Path: "/x", Args: []string{"a\x00b"}}, "a zero byte"},
		"variable":          {foreign.Config{Path: "/x", Env: []string{"HOME"}}, "NAME=value"},
		"nameless variable": {foreign.Config{Path: "/x", Env: []string{"=x"}}, "NAME=value"},
		"empty host":        {foreign.Config{Path: "/x", Hosts: []string{""}}, "lower-case ASCII"},
		"host with a port":  {foreign.Config{Path: "/x", Hosts: []string{"a.example:443"}}, "lower-case ASCII"},
		"host in capitals":  {foreign.Config{Path: "/x", Hosts: []string{"A.example"}}, "lower-case ASCII"},
		"any host":          {foreign.Config{Path: "/x", Hosts: []string{"*"}}, "lower-case ASCII"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := foreign.Start(t.Context(), c.cfg)
			require.ErrorContains(t, err, "foreign: bad configuration")
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestOtherSystemsRefuse(t *testing.T) {
	if runtime.GOOS == "linux" {
		t.Skip("this is Linux")
	}
	_, err := foreign.Start(t.Context(), foreign.Config{Path: "/x"})
	require.ErrorIs(t, err, errors.ErrUnsupported)
}
