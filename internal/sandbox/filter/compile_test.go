package filter_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/isolategpt/isolategpt/internal/sandbox/filter"
	"github.com/isolategpt/isolategpt/internal/sandbox/filter/filtertest"
)

var arches = []struct {
	name  string
	arch  filter.Arch
	audit uint32
}{
	{"amd64", filter.AMD64(), filtertest.X86_64},
	{"arm64", filter.ARM64(), filtertest.ARM64},
}

// Calls that both processors have.
var calls = []string{"read", "write", "close", "mmap", "clone", "fcntl", "prctl", "socket", "kill", "execve"}

func answer(t require.TestingT, program []filter.Insn, c filtertest.Call) filter.Answer {
	a, err := filtertest.Run(program, c)
	require.NoError(t, err)
	return a
}

// A program answers what the policy says, read rule by rule.
func TestCompiledAnswersAsPolicy(t *testing.T) {
	words := rapid.SampledFrom([]uint64{
		0, 1, 2, 0x21, filter.Low32, filter.All, 1 << 32, 1<<32 | 1, 0x80000000, 0xffffffff00000000, 0x10f00,
	})
	answers := rapid.SampledFrom([]filter.Answer{filter.Pass, filter.EPERM, filter.ENOSYS, filter.EINVAL, filter.Kill})
	conds := rapid.Custom(func(t *rapid.T) filter.Cond {
		mask := words.Draw(t, "mask")
		return filter.Is(rapid.IntRange(0, 5).Draw(t, "arg"), mask, words.Draw(t, "value")&mask)
	})
	clauses := rapid.Custom(func(t *rapid.T) filter.Clause {
		return filter.Clause{When: rapid.SliceOfN(conds, 0, 4).Draw(t, "when"), Answer: answers.Draw(t, "answer")}
	})
	rapid.Check(t, func(t *rapid.T) {
		p := filter.Policy{Rest: answers.Draw(t, "rest"), Newer: answers.Draw(t, "newer")}
		rest := slices.Clone(calls)
		for len(rest) > 0 && rapid.Bool().Draw(t, "another") {
			n := rapid.IntRange(1, len(rest)).Draw(t, "calls")
			p.Rules = append(p.Rules, filter.Rule{
				Calls: rest[:n], Clauses: rapid.SliceOfN(clauses, 0, 4).Draw(t, "clauses"), Rest: answers.Draw(t, "rule's rest"),
			})
			rest = rest[n:]
		}
		for _, a := range arches {
			program, err := filter.Compile(p, a.arch)
			require.NoError(t, err)
			name := rapid.SampledFrom(calls).Draw(t, "call")
			nr, ok := a.arch.Number(name)
			require.True(t, ok)
			c := filtertest.Call{Arch: a.audit, Number: nr}
			for i := range c.Args {
				c.Args[i] = words.Draw(t, "arg")
			}
			require.Equal(t, expected(p, name, c.Args), answer(t, program, c))
		}
	})
}

func expected(p filter.Policy, call string, args [6]uint64) filter.Answer {
	for _, r := range p.Rules {
		if !slices.Contains(r.Calls, call) {
			continue
		}
		for _, c := range r.Clauses {
			if !slices.ContainsFunc(c.When, func(w filter.Cond) bool { return args[w.Arg]&w.Mask != w.Value }) {
				return c.Answer
			}
		}
		return r.Rest
	}
	return p.Rest
}

// Whoever calls in another convention means another call by the same number.
func TestOtherConventionsEndTheProcess(t *testing.T) {
	p := filter.Policy{Rest: filter.Pass, Newer: filter.Pass, Rules: []filter.Rule{filter.Allow(calls...)}}
	rapid.Check(t, func(t *rapid.T) {
		for _, a := range arches {
			program, err := filter.Compile(p, a.arch)
			require.NoError(t, err)
			audit := rapid.OneOf(rapid.SampledFrom([]uint32{
				filtertest.X86, filtertest.X86_64, filtertest.ARM, filtertest.ARM64,
			}), rapid.Uint32()).Draw(t, "arch")
			nr := rapid.OneOf(rapid.Uint32Range(0, 480), rapid.Uint32()).Draw(t, "number")
			want := filter.Pass
			if audit != a.audit || a.name == "amd64" && nr&0x40000000 != 0 {
				want = filter.Kill
			}
			require.Equal(t, want, answer(t, program, filtertest.Call{Arch: audit, Number: nr}), a.name)
		}
	})
}

func TestUnknownNumbersAreNewer(t *testing.T) {
	for _, a := range arches {
		program, err := filter.Compile(filter.Policy{Rest: filter.Pass, Newer: filter.ENOSYS}, a.arch)
		require.NoError(t, err)
		for nr, want := range map[uint32]filter.Answer{
			0: filter.Pass, 471: filter.Pass, 472: filter.ENOSYS, 1 << 20: filter.ENOSYS, 0x3fffffff: filter.ENOSYS,
		} {
			require.Equal(t, want, answer(t, program, filtertest.Call{Arch: a.audit, Number: nr}), "%s %d", a.name, nr)
		}
	}
}

func TestBadPolicies(t *testing.T) {
	var long []filter.Clause
	for range 100 {
		long = append(long, filter.Clause{When: []filter.Cond{filter.Is(0, filter.All, 1)}})
	}
	for _, tc := range []struct {
		name string
		rule filter.Rule
	}{
		{"unknown name", filter.Allow("raed")},
		{"named twice", filter.Allow("read", "read")},
		{"no such argument", filter.AllowIf("read", 6, 0)},
		{"negative argument", filter.AllowIf("read", -1, 0)},
		{"value outside of the mask", filter.RefuseIf("mmap", 3, 1, 2)},
		{"too long for a jump", filter.Rule{Calls: []string{"read"}, Clauses: long}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := filter.Compile(filter.Policy{Rules: []filter.Rule{tc.rule}}, filter.AMD64())
			require.ErrorIs(t, err, filter.ErrPolicy)
		})
	}
}

// A rule for what a processor does not have is none there.
func TestCallsOfOneProcessor(t *testing.T) {
	p := filter.Policy{Rest: filter.EPERM, Rules: []filter.Rule{filter.Allow("fork")}}
	x86, err := filter.Compile(p, filter.AMD64())
	require.NoError(t, err)
	arm, err := filter.Compile(p, filter.ARM64())
	require.NoError(t, err)
	require.Greater(t, len(x86), len(arm))
	_, ok := filter.ARM64().Number("fork")
	require.False(t, ok)
	_, ok = filter.AMD64().Number("nothing")
	require.False(t, ok)
}

func ExampleCompile() {
	program, err := filter.Compile(filter.Policy{
		Rest: filter.EPERM,
		Rules: []filter.Rule{
			filter.Allow("read", "write"),
			filter.AllowIf("kill", 0, 42),
		},
	}, filter.ARM64())
	fmt.Println(len(program) > 0, err)
	// Output: true <nil>
}
