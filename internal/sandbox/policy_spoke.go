package sandbox

import "github.com/isolategpt/isolategpt/internal/sandbox/filter"

// Flags of clone(2).
const (
	cloneThread = 0x00000100 | 0x00000200 | 0x00000400 | 0x00000800 | 0x00010000 | 0x00040000 // VM FS FILES SIGHAND THREAD SYSVSEM
	// What C libraries add: SETTLS, PARENT_SETTID, CHILD_CLEARTID, DETACHED (no
	// meaning any more), CHILD_SETTID.
	cloneThreadMay = 0x00080000 | 0x00100000 | 0x00200000 | 0x00400000 | 0x01000000
	cloneNew       = 0x00000080 | 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000
)

// spokePolicy is what a Go program needs that works on descriptors it has: memory,
// threads, time, and reading and writing. Everything else is refused. pid is its
// own; the image, if it is not nil, is the one execution that passes.
func spokePolicy(pid int, image *image) filter.Policy {
	self := uint64(pid)
	p := filter.Policy{Rest: filter.EPERM, Newer: filter.EPERM, Rules: []filter.Rule{
		// Descriptors. Sockets are read and written like files; no call that names
		// an address or carries descriptors.
		filter.Allow("read", "write", "readv", "writev", "close"),
		filter.Allow("epoll_pwait", "epoll_ctl", "epoll_create1", "epoll_wait", "eventfd2", "pipe2"),
		// DUPFD, GETFD, SETFD, GETFL, SETFL, DUPFD_CLOEXEC. SETOWN and SETSIG would
		// send any signal to any process of this user.
		filter.AllowIf("fcntl", 1, 0, 1, 2, 3, 4, 1030),
		// Memory. It is bounded by a limit, and what runs in it by the rest of this.
		filter.Allow("mmap", "munmap", "mprotect", "madvise", "brk"),
		// Threads, never processes.
		{Calls: []string{"clone"}, Rest: filter.EPERM, Clauses: []filter.Clause{
			{When: []filter.Cond{filter.Is(0, filter.All&^cloneThreadMay, cloneThread)}, Answer: filter.Pass},
		}},
		filter.Unknown("clone3"),
		filter.Allow("futex", "sched_yield", "set_robust_list", "rseq", "arch_prctl"),
		filter.Allow("gettid", "getpid", "exit", "exit_group", "restart_syscall"),
		filter.AllowIf("sched_getaffinity", 0, 0, self),
		filter.AllowIf("prctl", 0, 0x53564d41), // SET_VMA, which names mappings
		// Signals, to itself.
		filter.Allow("rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack"),
		filter.AllowIf("tgkill", 0, self),
		// Time and randomness.
		filter.Allow("nanosleep", "clock_nanosleep", "clock_gettime", "getrandom"),
	}}
	if image != nil {
		p.Rules = append(p.Rules, image.rule())
	}
	return p
}
