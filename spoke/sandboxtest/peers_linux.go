package sandboxtest

import (
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/isolategpt/isolategpt/isc"
)

// memoryAttacks read what others hold.
func memoryAttacks() []attack {
	const g = isc.MemoryIsolation | isc.NoPeers
	return []attack{
		plain("ptrace-hub", g, "traces the hub", func(t targets) error { return trace(t.Hub) }),
		onSibling("ptrace-sibling", g, "traces another spoke", func(t targets) error { return trace(t.Sibling) }),
		plain("vm-read-hub", g, "reads the hub's memory", func(t targets) error { return peek(t.Hub, t.HubAddress) }),
		onSibling("vm-read-sibling", g, "reads another spoke's memory", func(t targets) error { return peek(t.Sibling, t.Address) }),
		plain("proc-hub-mem", g, "reads the hub's memory in /proc", func(t targets) error { return peekFile(t.Hub, t.HubAddress) }),
		onSibling("proc-sibling-mem", g, "reads another spoke's memory in /proc", func(t targets) error { return peekFile(t.Sibling, t.Address) }),
		plain("proc-hub-environ", g|isc.CleanEnv, "reads the hub's environment in /proc", func(t targets) error {
			return readFile(fmt.Sprintf("/proc/%d/environ", t.Hub))
		}),
		onSibling("pidfd-getfd", g|isc.NoSecrets, "takes a descriptor out of another spoke", func(t targets) error {
			fd, err := unix.PidfdOpen(t.Sibling, 0)
			if err != nil {
				return err
			}
			got, err := unix.PidfdGetfd(fd, hubDescriptor, 0)
			_ = closing(got, err)
			return closing(fd, err)
		}),
	}
}

// peerAttacks inspect other processes.
func peerAttacks() []attack {
	const g = isc.NoPeers
	return []attack{
		plain("proc-hub-cmdline", g, "reads the hub's arguments", func(t targets) error { return readFile(fmt.Sprintf("/proc/%d/cmdline", t.Hub)) }),
		plain("pidfd-open", g, "gets hold of the hub", func(t targets) error { return closing(unix.PidfdOpen(t.Hub, 0)) }),
		plain("kcmp-hub", g, "compares itself with the hub", func(t targets) error {
			const vm = 1
			return call(unix.SYS_KCMP, uintptr(os.Getpid()), uintptr(t.Hub), vm)
		}),
		plain("robust-list", g, "asks where the hub keeps its locks", func(t targets) error { return robustList(t.Hub) }),
		plain("group-of-hub", g, "asks for the hub's process group", func(t targets) error {
			_, err := unix.Getpgid(t.Hub)
			return err
		}),
		plain("session-of-hub", g, "asks for the hub's session", func(t targets) error {
			_, err := unix.Getsid(t.Hub)
			return err
		}),
		plain("priority-of-hub", g, "asks for the hub's priority", func(t targets) error {
			_, err := unix.Getpriority(unix.PRIO_PROCESS, t.Hub)
			return err
		}),
		plain("affinity-of-hub", g, "asks on which processors the hub runs", func(t targets) error {
			var set unix.CPUSet
			return unix.SchedGetaffinity(t.Hub, &set)
		}),
		plain("limits-of-hub", g, "asks for the hub's limits", func(t targets) error {
			var limit unix.Rlimit
			return unix.Prlimit(t.Hub, unix.RLIMIT_CORE, nil, &limit)
		}),
		onSibling("scheduler-sibling", g, "asks for another spoke's scheduling", func(t targets) error {
			return call(unix.SYS_SCHED_GETSCHEDULER, uintptr(t.Sibling))
		}),
	}
}

// holdAttacks change other processes, or who holds this one.
func holdAttacks() []attack {
	const g = isc.NoPeers
	return []attack{
		onSibling("limit-sibling", g, "limits another spoke", func(t targets) error {
			return unix.Prlimit(t.Sibling, unix.RLIMIT_CORE, &unix.Rlimit{}, nil)
		}),
		onSibling("affinity-sibling", g, "moves another spoke to one processor", func(t targets) error {
			var set unix.CPUSet
			if unix.SchedGetaffinity(0, &set) != nil {
				set.Set(0)
			}
			return unix.SchedSetaffinity(t.Sibling, &set)
		}),
		onSibling("nice-sibling", g, "slows another spoke", func(t targets) error {
			return unix.Setpriority(unix.PRIO_PROCESS, t.Sibling, 19)
		}),
		onSibling("ioprio-sibling", g, "slows another spoke's disk", func(t targets) error {
			const process, bestEffortLowest = 1, 2<<13 | 7
			return call(unix.SYS_IOPRIO_SET, process, uintptr(t.Sibling), bestEffortLowest)
		}),
		plain("setsid", isc.Killable, "begins a session, out of the hub's reach", func(targets) error {
			_, err := unix.Setsid()
			return err
		}),
		plain("setpgid", isc.Killable, "joins the hub's process group", func(t targets) error { return unix.Setpgid(0, t.HubGroup) }),
	}
}

// trace stops a process for a moment.
func trace(pid int) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.PtraceSeize(pid); err != nil {
		return err
	}
	if err := unix.PtraceInterrupt(pid); err != nil {
		return err
	}
	if _, err := unix.Wait4(pid, nil, unix.WALL, nil); err != nil {
		return err
	}
	return unix.PtraceDetach(pid)
}

func peek(pid int, hex string) error {
	from, err := address(hex)
	if err != nil {
		return err
	}
	var into [16]byte
	local := []unix.Iovec{{Base: &into[0]}}
	local[0].SetLen(len(into))
	_, err = unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: from, Len: len(into)}}, 0)
	return err
}

func peekFile(pid int, hex string) error {
	from, err := address(hex)
	if err != nil {
		return err
	}
	fd, err := unix.Open(fmt.Sprintf("/proc/%d/mem", pid), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	_, err = unix.Pread(fd, make([]byte, 16), int64(from))
	return closing(fd, err)
}
