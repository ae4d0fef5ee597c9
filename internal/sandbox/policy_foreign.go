package sandbox

import "github.com/isolategpt/isolategpt/internal/sandbox/filter"

// foreignPolicy is for a program that nobody here has written: everything that the
// other layers judge (files, memory) passes, and what they do not see or what
// reaches beyond the process is refused. pid is its own. With proxy it may have
// TCP sockets; Landlock then says which port they connect to.
func foreignPolicy(pid int, proxy bool) filter.Policy {
	p := filter.Policy{Rest: filter.Pass, Newer: filter.ENOSYS}
	for _, group := range [][]filter.Rule{
		processRules(), peerRules(uint64(pid)), socketRules(proxy), kernelRules(), fileRules(),
	} {
		p.Rules = append(p.Rules, group...)
	}
	return p
}

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
		// SET_PDEATHSIG, SET_DUMPABLE, SET_PTRACER, SET_CHILD_SUBREAPER, SET_SECCOMP,
		// SET_MM, SET_SECUREBITS, CAPBSET_DROP, CAP_AMBIENT, SCHED_CORE.
		filter.RefuseIf("prctl", 0, filter.Low32, 1, 4, 0x59616d61, 36, 22, 35, 28, 24, 47, 62),
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
		// F_SETOWN, F_SETSIG, F_SETOWN_EX: signals by way of a descriptor.
		filter.RefuseIf("fcntl", 1, filter.Low32, 8, 10, 15),
		// FIOSETOWN, SIOCSPGRP; TIOCSTI, TIOCLINUX, TIOCSETD, TIOCSCTTY, TIOCCONS:
		// typing on somebody's terminal.
		filter.RefuseIf("ioctl", 1, filter.Low32, 0x8901, 0x8902, 0x5412, 0x541c, 0x5423, 0x540e, 0x541d),
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

// socketRules: pairs of connected sockets; with a proxy TCP over IPv4, whose way
// leads through connect(2) and nothing else, since that is what Landlock judges.
func socketRules(proxy bool) []filter.Rule {
	const (
		inet, stream, tcp = 2, 1, 6
		typeBits          = filter.All &^ 0o2004000 // without NONBLOCK and CLOEXEC
		fastOpen          = 0x20000000
	)
	rules := []filter.Rule{
		filter.AllowIf("socketpair", 0, 1), // AF_UNIX
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
