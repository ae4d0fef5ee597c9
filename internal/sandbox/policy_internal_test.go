package sandbox

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/isolategpt/isolategpt/internal/sandbox/filter"
	"github.com/isolategpt/isolategpt/internal/sandbox/filter/filtertest"
)

const self = 4242

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
	0x53564d41, 1<<32 | 0x53564d41, 0x59616d61, 262, 0x80801, 0x8901, 0x5412,
}))

// Only what is listed passes, whatever the arguments, and nothing else.
func TestSpokePolicyPassesOnlyTheList(t *testing.T) {
	for _, exec := range []bool{false, true} {
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
				case listed && (spokeMay[name] == nil || spokeMay[name](c.Args)), exec && c.Number == execve:
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
	checkPolicy(t, spokePolicy(self, false), []policyCase{
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

func TestForeignPolicyConditions(t *testing.T) {
	common := []policyCase{
		{"a thread", "clone", args{0x3d0f00}, filter.Pass},
		{"a process", "clone", args{17}, filter.EPERM},
		{"vfork", "clone", args{0x4111}, filter.EPERM},
		{"a thread in a new user namespace", "clone", args{0x3d0f00 | 0x10000000}, filter.EPERM},
		{"hidden by high bits", "clone", args{1<<40 | 17}, filter.EPERM},
		{"clone3", "clone3", args{}, filter.ENOSYS},
		{"fork", "fork", args{}, filter.EPERM},
		{"memory", "mmap", args{0, 1 << 20, 3, 0x22}, filter.Pass},
		{"a file", "mmap", args{0, 1 << 20, 3, 0x01, 5}, filter.Pass},
		{"memory that no limit counts", "mmap", args{0, 1 << 20, 3, 0x21}, filter.EPERM},
		{"the same in the new way", "mmap", args{0, 1 << 20, 3, 0x23}, filter.EPERM},
		{"a file in memory", "memfd_create", args{}, filter.EPERM},
		{"own limits", "prlimit64", args{0, 3}, filter.Pass},
		{"own limits by number", "prlimit64", args{self, 3}, filter.Pass},
		{"another's limits", "prlimit64", args{1, 3}, filter.EPERM},
		{"another's processors", "sched_setaffinity", args{1}, filter.EPERM},
		{"signal itself", "kill", args{self}, filter.Pass},
		{"signal all", "kill", args{^uint64(0)}, filter.EPERM},
		{"signal its group", "kill", args{0}, filter.EPERM},
		{"signal a thread", "tkill", args{self}, filter.EPERM},
		{"own signals", "fcntl", args{3, 8}, filter.EPERM},
		{"own signals, hidden", "fcntl", args{3, 1<<32 | 8}, filter.EPERM},
		{"lock", "fcntl", args{3, 6}, filter.Pass},
		{"own a socket's signals", "ioctl", args{3, 0x8901}, filter.EPERM},
		{"type on the terminal", "ioctl", args{3, 0x5412}, filter.EPERM},
		{"type on the terminal, hidden", "ioctl", args{3, 1<<32 | 0x5412}, filter.EPERM},
		{"ring", "io_uring_setup", args{}, filter.EPERM},
		{"a pair", "socketpair", args{1, 1}, filter.Pass},
		{"a pair of another kind", "socketpair", args{16, 1}, filter.EPERM},
		{"listen", "listen", args{}, filter.EPERM},
		{"bind", "bind", args{}, filter.EPERM},
		{"send", "sendto", args{3, 0, 0, 0x4000}, filter.Pass},
		{"connect by sending", "sendto", args{3, 0, 0, 0x20004000}, filter.EPERM},
		{"connect by sending a message", "sendmsg", args{3, 0, 0x20000000}, filter.EPERM},
		{"connect by sending messages", "sendmmsg", args{3, 0, 1, 1<<32 | 0x20000000}, filter.EPERM},
		{"outlive the parent", "prctl", args{1}, filter.EPERM},
		{"outlive the parent, hidden", "prctl", args{1<<32 | 1}, filter.EPERM},
		{"name a thread", "prctl", args{15}, filter.Pass},
		{"chmod", "fchmodat", args{}, filter.EPERM},
		{"xattr", "fsetxattr", args{}, filter.EPERM},
		{"mount", "mount", args{}, filter.EPERM},
		{"leave the group", "setsid", args{}, filter.EPERM},
		{"shared memory", "shmget", args{}, filter.EPERM},
		{"keys", "keyctl", args{}, filter.EPERM},
		{"trace", "ptrace", args{}, filter.EPERM},
	}
	t.Run("without proxy", func(t *testing.T) {
		checkPolicy(t, foreignPolicy(self, false), append(common, []policyCase{
			{"socket", "socket", args{2, 1, 6}, filter.EPERM},
			{"connect", "connect", args{}, filter.EPERM},
		}...))
	})
	t.Run("with proxy", func(t *testing.T) {
		checkPolicy(t, foreignPolicy(self, true), append(common, []policyCase{
			{"tcp", "socket", args{2, 1, 0}, filter.Pass},
			{"tcp by number, not blocking", "socket", args{2, 0o2004001, 6}, filter.Pass},
			{"mptcp", "socket", args{2, 1, 262}, filter.EPERM},
			{"udp", "socket", args{2, 2, 0}, filter.EPERM},
			{"tcp6", "socket", args{10, 1, 0}, filter.EPERM},
			{"unix", "socket", args{1, 1, 0}, filter.EPERM},
			{"netlink", "socket", args{16, 3, 0}, filter.EPERM},
			{"vsock", "socket", args{40, 1, 0}, filter.EPERM},
			{"hidden", "socket", args{1<<32 | 2, 1, 0}, filter.EPERM},
			{"connect", "connect", args{}, filter.Pass},
		}...))
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
