//go:build linux && (amd64 || arm64)

package sandbox

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/isolategpt/isolategpt/isc"
)

// executions: a program and a process. If they are not refused, they fail for
// want of the file that they name (or of a list of arguments), or for flags that exclude each other.
func (c *confinement) executions() []attempt {
	const (
		nowhere = 1                      // no address of anything
		bad     = unix.CLONE_SIGHAND     // needs CLONE_VM
		process = isc.NoExec             // starts one
		escapes = process | isc.Killable // which may leave the group that is killed
	)
	fork := escapes
	if c.rootless { // the pid namespace ends with its first process
		fork = process
	}
	if c.before.program == "" {
		return []attempt{{"find a program that is not declared", process, func() syscall.Errno { return syscall.ENOENT }, nil}}
	}
	sh, gone := c.before.program, c.gone()
	var again []attempt
	if c.Program != nil {
		// What a thread executes does not end with the hub.
		again = append(again, call("execute "+c.Program.Path+" by another way", process|isc.DiesWithHub, nil,
			unix.SYS_EXECVE, c.Program.Path, nowhere, 0))
	}
	return append(again, []attempt{
		call("execute "+sh, process, gone, unix.SYS_EXECVE, sh, nowhere, 0),
		call("execute "+sh+" from a directory", process, gone, unix.SYS_EXECVEAT, unix.AT_FDCWD, sh, nowhere, 0, 0),
		call("fork", fork, nil, unix.SYS_CLONE, bad|int(unix.SIGCHLD), 0, 0, 0, 0),
		call("fork in the new way", fork, []syscall.Errno{syscall.ENOSYS}, unix.SYS_CLONE3, nowhere, 0),
		opens("a file in memory", process, nil, unix.SYS_MEMFD_CREATE, "x", unix.MFD_CLOEXEC),
		call("outlive the hub", isc.DiesWithHub, nil, unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, int(unix.SIGKILL), 0, 0, 0),
	}...)
}

// peers: whatever one process may do to another that it can name. In a pid
// namespace nobody outside has a number.
func (c *confinement) peers() []attempt {
	const (
		breaks  = isc.NoPeers | isc.HubOnly
		memory  = breaks | isc.MemoryIsolation | isc.NoSecrets
		none    = -1 // no descriptor
		nowhere = 1
	)
	hub := c.outsider()
	var refusals []syscall.Errno
	if c.rootless {
		refusals = []syscall.Errno{syscall.ESRCH}
	}
	vec := words(4096, 1)
	proc := fmt.Sprintf("/proc/%d/", c.Hub)
	open := func(file string, breaks isc.Guarantees) attempt {
		return opens("open the hub's "+file, breaks, c.gone(), unix.SYS_OPENAT, unix.AT_FDCWD, proc+file, unix.O_RDONLY, 0)
	}
	out := []attempt{
		call("signal the hub", breaks, refusals, unix.SYS_KILL, hub, 0),
		call("signal a thread", breaks, refusals, unix.SYS_TKILL, hub, 0),
		call("signal a thread of the hub", breaks, refusals, unix.SYS_TGKILL, hub, hub, 0),
		{"be the owner of signals", breaks, func() syscall.Errno { return signalByPipe(hub) }, refusals},
		opens("open the hub", memory, refusals, unix.SYS_PIDFD_OPEN, hub, 0),
		call("read the hub's memory", memory, refusals, unix.SYS_PROCESS_VM_READV, hub, vec, 1, vec, 1, 0),
		call("write the hub's memory", memory, refusals, unix.SYS_PROCESS_VM_WRITEV, hub, vec, 1, vec, 1, 0),
		call("read the hub's limits", breaks, refusals, unix.SYS_PRLIMIT64, hub, unix.RLIMIT_CPU, 0, make([]byte, 16)),
		call("read the hub's processors", breaks, refusals, unix.SYS_SCHED_GETAFFINITY, hub, 128, make([]byte, 128)),
		call("read the hub's priority", breaks, refusals, unix.SYS_GETPRIORITY, unix.PRIO_PROCESS, hub),
		call("be told of an opened file", breaks, nil, unix.SYS_FCNTL, none, unix.F_SETLEASE, unix.F_RDLCK),
		call("be told of a changed directory", breaks, nil, unix.SYS_FCNTL, none, unix.F_NOTIFY, 1),
		call("read the hub's session", breaks, refusals, unix.SYS_GETSID, hub),
		open("status", breaks), open("mem", memory), open("environ", breaks|isc.CleanEnv),
	}
	if c.locks() {
		return out
	}
	return append(out,
		call("look for locks", breaks, nil, unix.SYS_FCNTL, none, unix.F_GETLK, 0),
		call("lock a file", breaks, nil, unix.SYS_FLOCK, none, unix.LOCK_EX|unix.LOCK_NB),
		call("watch a file", breaks, nil, unix.SYS_INOTIFY_ADD_WATCH, none, nowhere, unix.IN_ACCESS),
	)
}

// outsider is a number under which this process would find the hub, if it could.
func (c *confinement) outsider() int {
	const none = 1 << 21 // none of this process's own threads has it
	if c.rootless && c.Hub < none {
		return c.Hub + none
	}
	return c.Hub
}

// signalByPipe makes the process the one that a pipe's news are signalled to.
func signalByPipe(pid int) syscall.Errno {
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		return syscall.ENOTSUP // nothing was tried
	}
	defer unix.Close(p[0])
	defer unix.Close(p[1])
	_, errno := try(unix.SYS_FCNTL, p[0], unix.F_SETOWN, pid)
	return errno
}
