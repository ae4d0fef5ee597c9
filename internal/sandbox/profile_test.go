package sandbox_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/internal/sandbox"
)

// Nothing is given up for a profile that nobody can have meant.
func TestBadProfilesAreRefused(t *testing.T) {
	good := sandbox.Profile{Memory: 1, Files: 8, Hub: 2, Channels: 2}
	for _, tc := range []struct {
		name string
		bad  func(*sandbox.Profile)
	}{
		{"the zero profile", func(p *sandbox.Profile) { *p = sandbox.Profile{} }},
		{"no memory", func(p *sandbox.Profile) { p.Memory = 0 }},
		{"too much memory", func(p *sandbox.Profile) { p.Memory = 1 << 62 }},
		{"no files", func(p *sandbox.Profile) { p.Files = -1 }},
		{"more channels than files", func(p *sandbox.Profile) { p.Channels = 9 }},
		{"no hub", func(p *sandbox.Profile) { p.Hub = 0 }},
		{"every process as hub", func(p *sandbox.Profile) { p.Hub = -1 }},
		{"no program", func(p *sandbox.Profile) { p.Program = &sandbox.Program{} }},
		{"relative path", func(p *sandbox.Profile) { p.Program = &sandbox.Program{Path: "sh"} }},
		{"path with dots", func(p *sandbox.Profile) { p.Program = &sandbox.Program{Path: "/bin/../x"} }},
		{"relative directory", func(p *sandbox.Profile) { p.Program = &sandbox.Program{Path: "/x", Dir: "y"} }},
		{"the root", func(p *sandbox.Profile) { p.Program = &sandbox.Program{Path: "/x", Read: []string{"/"}} }},
		{"zero in a path", func(p *sandbox.Profile) { p.Program = &sandbox.Program{Path: "/x\x00"} }},
		{"static with paths", func(p *sandbox.Profile) {
			p.Program = &sandbox.Program{Path: "/x", Static: true, Run: []string{"/y"}}
		}},
		{"static with proxy", func(p *sandbox.Profile) { p.Program = &sandbox.Program{Path: "/x", Static: true, Proxy: 1} }},
		{"no port", func(p *sandbox.Profile) { p.Program = &sandbox.Program{Path: "/x", Proxy: 65536} }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := good
			tc.bad(&p)
			isolation, err := sandbox.Confine(p)
			require.ErrorContains(t, err, "bad profile")
			require.Zero(t, isolation)
		})
	}
}

func TestProfileTravelsAsJSON(t *testing.T) {
	p := sandbox.Profile{
		Memory: 1, Files: 2, Namespaces: true, Hub: 3, Channels: 4,
		Program: &sandbox.Program{
			Path: "/a", Args: []string{"b"}, Env: []string{"C=d"}, Dir: "/e", Static: true, Run: []string{"/f"},
			Read: []string{"/g"}, Write: []string{"/h"}, Proxy: 5,
		},
	}
	data, err := json.Marshal(p)
	require.NoError(t, err)
	var got sandbox.Profile
	require.NoError(t, json.Unmarshal(data, &got))
	require.Equal(t, p, got)
}
