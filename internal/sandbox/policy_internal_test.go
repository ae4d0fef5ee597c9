package sandbox

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/isolategpt/isolategpt/internal/sandbox/filter"
	"github.com/isolategpt/isolategpt/internal/sandbox/filter/filtertest"
)

const self = 4242

// its is the image that may be executed, by the addresses pinned.
var (
	its    = image{path: 0x2a0000001238, args: 0x1b0000004560, env: 0x0c0000007898}
	pinned = [3]uint64{its.path, its.args, its.env}
)

var arches = []struct {
	name  string
	arch  filter.Arch
	audit uint32
}{
	{"amd64", filter.AMD64(), filtertest.X86_64},
	{"arm64", filter.ARM64(), filtertest.ARM64},
}

// spokeMay is all that a spoke may call, and how: nil is with any arguments.
var spokeMay = map[string]func(args [6]uint64) bool{
	"read": nil, "write": nil, "readv": nil, "writev": nil, "close": nil,
	"epoll_pwait": nil, "epoll_ctl": nil, "epoll_create1": nil, "epoll_wait": nil, "eventfd2": nil, "pipe2": nil,
	"mmap": nil, "munmap": nil, "mprotect": nil, "madvise": nil, "brk": nil,
	"futex": nil, "sched_yield": nil, "set_robust_list": nil, "rseq": nil, "arch_prctl": nil,
	"gettid": nil, "getpid": nil, "exit": nil, "exit_group": nil, "restart_syscall": nil,
	"rt_sigaction": nil, "rt_sigprocmask": nil, "rt_sigreturn": nil, "sigaltstack": nil,
	"nanosleep": nil, "clock_nanosleep": nil, "clock_gettime": nil,
	"getrandom":         nil,
	"fcntl":             func(a [6]uint64) bool { return a[1] <= 4 || a[1] == 1030 },
	"clone":             func(a [6]uint64) bool { return a[0]&^0x1780000 == 0x50f00 },
	"sched_getaffinity": func(a [6]uint64) bool { return a[0] == 0 || a[0] == self },
	"prctl":             func(a [6]uint64) bool { return a[0] == 0x53564d41 },
	"tgkill":            func(a [6]uint64) bool { return a[0] == self },
}

// arguments are such as matter to some condition, and any others.
var arguments = rapid.OneOf(rapid.Uint64(), rapid.SampledFrom([]uint64{
	0, 1, 2, 3, 4, 5, 6, 8, 10, 15, 16, 17, 1030, 0x21, self, self + 1, 1<<32 | self, 1 << 32, ^uint64(0),
	0x50f00, 0xd0f00, 0x3d0f00, 0x7d0f00, 0x4011, 0x11, 0x10000000, 0x50f00 | 0x10000000, 0x50f00 | 1<<33, 0x50f11,
	pinned[0], pinned[1], pinned[2], 0x53564d41, 1<<32 | 0x53564d41, 0x59616d61, 262, 0x80801, 0x8901, 0x5412,
}))

// Only what is listed passes, whatever the arguments, and nothing else.
func TestSpokePolicyPassesOnlyTheList(t *testing.T) {
	for _, exec := range []*image{nil, &its} {
		for _, a := range arches {
			program, err := filter.Compile(spokePolicy(self, exec), a.arch)
			require.NoError(t, err)
			names := make(map[uint32]string)
			for name := range spokeMay {
				if nr, ok := a.arch.Number(name); ok {
					names[nr] = name
				}
			}
			execve, _ := a.arch.Number("execve")
			clone3, _ := a.arch.Number("clone3")
			rapid.Check(t, func(t *rapid.T) {
				c := filtertest.Call{Arch: a.audit, Number: rapid.Uint32Range(0, 600).Draw(t, "number")}
				for i := range c.Args {
					c.Args[i] = arguments.Draw(t, "arg")
				}
				want := filter.EPERM
				name, listed := names[c.Number]
				switch {
				case listed && (spokeMay[name] == nil || spokeMay[name](c.Args)), exec != nil && c.Number == execve && [3]uint64(c.Args[:3]) == pinned:
					want = filter.Pass
				case c.Number == clone3:
					want = filter.ENOSYS
				}
				got, err := filtertest.Run(program, c)
				require.NoError(t, err)
				require.Equal(t, want, got, "%s %v", name, c)
			})
		}
	}
}

// The conditions of a spoke's calls, one by one.
func TestSpokePolicyConditions(t *testing.T) {
	const (
		threads = 0x50f00            // Go
		pthread = threads | 0x380000 // a C library
	)
	checkPolicy(t, spokePolicy(self, nil), []policyCase{
		{"a thread of Go's", "clone", args{threads | 0x80000}, filter.Pass},
		{"a thread of C's", "clone", args{pthread}, filter.Pass},
		{"a process", "clone", args{17}, filter.EPERM},
		{"a process that shares memory", "clone", args{0x4111}, filter.EPERM},
		{"a thread in a new namespace", "clone", args{threads | 0x10000000}, filter.EPERM},
		{"a thread with an end signal", "clone", args{threads | 17}, filter.EPERM},
		{"a thread without its signals", "clone", args{threads &^ 0x800}, filter.EPERM},
		{"high bits", "clone", args{threads | 1<<40}, filter.EPERM},
		{"a thread with a pidfd", "clone", args{threads | 0x1000}, filter.EPERM},
		{"get flags", "fcntl", args{3, 3}, filter.Pass},
		{"own a descriptor's signals", "fcntl", args{3, 8}, filter.EPERM},
		{"choose a descriptor's signal", "fcntl", args{3, 10}, filter.EPERM},
		{"own them in the new way", "fcntl", args{3, 15}, filter.EPERM},
		{"lock", "fcntl", args{3, 6}, filter.EPERM},
		{"notify about a directory", "fcntl", args{3, 1026}, filter.EPERM},
		{"name a mapping", "prctl", args{0x53564d41}, filter.Pass},
		{"outlive the parent", "prctl", args{1}, filter.EPERM},
		{"be dumpable", "prctl", args{4, 1}, filter.EPERM},
		{"be traced", "prctl", args{0x59616d61}, filter.EPERM},
		{"signal itself", "tgkill", args{self, 1, 6}, filter.Pass},
		{"signal another", "tgkill", args{1, 1, 9}, filter.EPERM},
		{"signal by number", "kill", args{self}, filter.EPERM},
		{"own processors", "sched_getaffinity", args{0}, filter.Pass},
		{"another's processors", "sched_getaffinity", args{1}, filter.EPERM},
		{"execute", "execve", args{}, filter.EPERM},
	})
}

type args [6]uint64

type policyCase struct {
	name, call string
	args       args
	want       filter.Answer
}

func checkPolicy(t *testing.T, p filter.Policy, cases []policyCase) {
	t.Helper()
	for _, a := range arches {
		program, err := filter.Compile(p, a.arch)
		require.NoError(t, err)
		for _, tc := range cases {
			nr, ok := a.arch.Number(tc.call)
			if !ok {
				require.Equal(t, "fork", tc.call)
				continue
			}
			got, err := filtertest.Run(program, filtertest.Call{Arch: a.audit, Number: nr, Args: tc.args})
			require.NoError(t, err)
			require.Equal(t, tc.want, got, "%s: %s", a.name, tc.name)
		}
	}
}
