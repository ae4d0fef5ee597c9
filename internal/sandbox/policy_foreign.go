package sandbox

import "github.com/isolategpt/isolategpt/internal/sandbox/filter"

// foreignPolicy is for a program that nobody here has written: everything that the
// other layers judge (files, memory) passes, and what they do not see or what
// reaches beyond the process is refused. pid is its own; the image is the one
// execution that passes. With proxy it may have TCP sockets; Landlock then says
// which port they connect to. With locks it may lock files and watch them.
func foreignPolicy(pid int, image *image, proxy, locks bool) filter.Policy {
	p := filter.Policy{Rest: filter.Pass, Newer: filter.ENOSYS}
	for _, group := range [][]filter.Rule{
		{image.rule()}, processRules(), peerRules(uint64(pid)), descriptorRules(locks), socketRules(proxy), kernelRules(),
		fileRules(),
	} {
		p.Rules = append(p.Rules, group...)
	}
	return p
}

// ownOptions are commands of prctl(2) about the process alone: GET_PDEATHSIG,
// GET_DUMPABLE, SET_NAME, GET_NAME, GET_SECCOMP, CAPBSET_READ, GET_SECUREBITS,
// SET_TIMERSLACK, GET_TIMERSLACK, SET_NO_NEW_PRIVS, GET_NO_NEW_PRIVS,
// GET_THP_DISABLE, SET_VMA; on arm64 SVE_SET_VL, SVE_GET_VL, PAC_RESET_KEYS,
// SET_TAGGED_ADDR_CTRL, GET_TAGGED_ADDR_CTRL. Not, above all: SET_PDEATHSIG,
// SET_DUMPABLE, SET_PTRACER, SET_MM, SET_THP_DISABLE, and FUTEX_HASH, which takes
// memory of the kernel's that no limit counts.
var ownOptions = []uint64{2, 3, 15, 16, 21, 23, 27, 29, 30, 38, 39, 42, 0x53564d41, 50, 51, 54, 55, 56}

// processRules: threads, but no process, no namespace, no program without a path.
func processRules() []filter.Rule {
	return []filter.Rule{
		{Calls: []string{"clone"}, Rest: filter.EPERM, Clauses: []filter.Clause{
			{When: []filter.Cond{filter.Is(0, filter.Low32&(0x00010000|cloneNew), 0x00010000)}, Answer: filter.Pass},
		}},
		filter.Unknown("clone3"),
		filter.Refuse("fork", "vfork", "execveat", "memfd_create", "memfd_secret"),
		filter.Refuse("unshare", "setns", "setsid", "setpgid", "personality"),
		// A shared mapping without a file is memory that no limit counts.
		filter.RefuseIf("mmap", 3, 0x21, 0x21),
		filter.Refuse("setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid", "setfsuid", "setfsgid", "setgroups", "capset"),
		filter.AllowIf("prctl", 0, ownOptions...),
	}
}

// peerRules: nothing about another process than itself.
func peerRules(self uint64) []filter.Rule {
	rules := []filter.Rule{
		filter.AllowIf("tgkill", 0, self),
		filter.AllowIf("kill", 0, self),
		filter.AllowIf("rt_sigqueueinfo", 0, self),
		filter.AllowIf("rt_tgsigqueueinfo", 0, self),
		filter.Refuse("tkill", "pidfd_open", "pidfd_getfd", "pidfd_send_signal"),
		filter.Refuse("ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease", "kcmp"),
		filter.Refuse("ioprio_get", "ioprio_set", "getpriority", "setpriority", "migrate_pages", "move_pages"),
	}
	for _, call := range []string{
		"prlimit64", "sched_getaffinity", "sched_setaffinity", "sched_getattr", "sched_setattr", "sched_getparam",
		"sched_setparam", "sched_getscheduler", "sched_setscheduler", "sched_rr_get_interval", "get_robust_list",
		"getpgid", "getsid",
	} {
		rules = append(rules, filter.AllowIf(call, 0, 0, self))
	}
	return rules
}

// descriptorRules: what may be done by the number of a command, which might also
// be a signal to another process, a change of a file that may only be read, or
// memory of the kernel's that no limit counts.
func descriptorRules(locks bool) []filter.Rule {
	// DUPFD, GETFD, SETFD, GETFL, SETFL, GETOWN, DUPFD_QUERY, DUPFD_CLOEXEC,
	// GETPIPE_SZ, GET_SEALS. Not, above all: SETOWN, SETSIG, SETOWN_EX, SETLEASE,
	// NOTIFY, SETPIPE_SZ, SET_RW_HINT.
	commands := []uint64{0, 1, 2, 3, 4, 9, 1027, 1030, 1032, 1034}
	rules := []filter.Rule{
		// TCGETS, TCGETS2, TIOCGWINSZ, TIOCOUTQ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX.
		filter.AllowIf("ioctl", 1, 0x5401, 0x802c542a, 0x5413, 0x5411, 0x541b, 0x5421, 0x5450, 0x5451),
		// A pipe holds pages that are nobody's any more. Requests that wait in the
		// kernel are counted for the whole machine.
		filter.Refuse("splice", "tee", "vmsplice", "io_setup", "io_submit"),
	}
	if !locks {
		// Whoever may read the same file can tell by a lock on it, or by watching it,
		// what another program does, which thus can tell it anything.
		return append(rules, filter.AllowIf("fcntl", 1, commands...), filter.Refuse("flock", "inotify_add_watch"))
	}
	// GETLK, SETLK, SETLKW, and of open files.
	return append(rules, filter.AllowIf("fcntl", 1, append(commands, 5, 6, 7, 36, 37, 38)...))
}

// options are those of sockets that a program may set, by level. Others give a
// socket more of the kernel's memory, or leave its file system or machine.
func options() filter.Rule {
	r := filter.Rule{Calls: []string{"setsockopt"}, Rest: filter.EPERM}
	for _, o := range []struct{ level, name uint64 }{
		{1, 2}, {1, 9}, {1, 13}, {1, 16}, {1, 20}, {1, 21}, // REUSEADDR KEEPALIVE LINGER PASSCRED RCVTIMEO SNDTIMEO
		{6, 1}, {6, 4}, {6, 5}, {6, 6}, {6, 12}, {6, 18}, // NODELAY KEEPIDLE KEEPINTVL KEEPCNT QUICKACK USER_TIMEOUT
	} {
		r.Clauses = append(r.Clauses, filter.Clause{Answer: filter.Pass, When: []filter.Cond{
			filter.Is(1, filter.All, o.level), filter.Is(2, filter.All, o.name),
		}})
	}
	return r
}

// socketRules: pairs of connected sockets; with a proxy TCP over IPv4, whose way
// leads through connect(2) and nothing else, since that is what Landlock judges.
func socketRules(proxy bool) []filter.Rule {
	const (
		unix, inet, stream, tcp = 1, 2, 1, 6
		typeBits                = filter.All &^ 0o2004000 // without NONBLOCK and CLOEXEC
		fastOpen                = 0x20000000
	)
	rules := []filter.Rule{
		// Of streams only: a datagram leaves a pair for any address.
		{Calls: []string{"socketpair"}, Rest: filter.EPERM, Clauses: []filter.Clause{{Answer: filter.Pass, When: []filter.Cond{
			filter.Is(0, filter.All, unix), filter.Is(1, typeBits, stream),
		}}}},
		options(),
		filter.Refuse("io_uring_setup", "io_uring_enter", "io_uring_register"),
		filter.Refuse("bind", "listen", "accept", "accept4"),
	}
	if !proxy {
		return append(rules, filter.Refuse("socket", "connect"), filter.RefuseBits("sendto", 3, fastOpen),
			filter.RefuseBits("sendmsg", 2, fastOpen), filter.RefuseBits("sendmmsg", 3, fastOpen))
	}
	socket := filter.Rule{Calls: []string{"socket"}, Rest: filter.EPERM}
	for _, protocol := range []uint64{0, tcp} {
		socket.Clauses = append(socket.Clauses, filter.Clause{Answer: filter.Pass, When: []filter.Cond{
			filter.Is(0, filter.All, inet), filter.Is(1, typeBits, stream), filter.Is(2, filter.All, protocol),
		}})
	}
	return append(rules, socket, filter.RefuseBits("sendto", 3, fastOpen), filter.RefuseBits("sendmsg", 2, fastOpen),
		filter.RefuseBits("sendmmsg", 3, fastOpen))
}

// kernelRules: what belongs to the machine.
func kernelRules() []filter.Rule {
	return []filter.Rule{
		// A ruleset holds any number of rules.
		filter.Unknown("landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self"),
		filter.Refuse("bpf", "perf_event_open", "userfaultfd", "keyctl", "add_key", "request_key", "syslog", "seccomp"),
		filter.Refuse("mount", "umount2", "pivot_root", "chroot", "fsopen", "fsconfig", "fsmount", "fspick", "open_tree",
			"open_tree_attr", "move_mount", "mount_setattr", "statmount", "listmount", "quotactl", "quotactl_fd"),
		filter.Refuse("reboot", "kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "swapon", "swapoff",
			"acct", "sethostname", "setdomainname", "settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "iopl",
			"ioperm", "modify_ldt", "lookup_dcookie", "vhangup", "nfsservctl", "uselib", "ustat", "sysfs", "_sysctl"),
		filter.Refuse("shmget", "shmat", "shmctl", "shmdt", "semget", "semop", "semctl", "semtimedop", "msgget", "msgsnd", "msgrcv",
			"msgctl", "mq_open", "mq_unlink", "mq_timedsend", "mq_timedreceive", "mq_notify", "mq_getsetattr"),
		filter.Refuse("lsm_get_self_attr", "lsm_set_self_attr", "lsm_list_modules", "set_mempolicy_home_node", "mbind", "set_mempolicy"),
	}
}

// fileRules: what Landlock does not judge about a file.
func fileRules() []filter.Rule {
	return []filter.Rule{
		filter.Refuse("chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat"),
		filter.Refuse("utime", "utimes", "utimensat", "futimesat", "file_setattr"),
		filter.Refuse("setxattr", "lsetxattr", "fsetxattr", "setxattrat", "removexattr", "lremovexattr", "fremovexattr", "removexattrat"),
		filter.Refuse("mknod", "mknodat", "name_to_handle_at", "open_by_handle_at", "fanotify_init", "fanotify_mark"),
	}
}
