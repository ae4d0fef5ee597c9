package sandboxtest

import (
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/isolategpt/isolategpt/isc"
)

// privilegeAttacks gain rights or give others away. Whoever has more rights than
// its peers has them over its peers.
func privilegeAttacks() []attack {
	const g = isc.NoPeers
	return []attack{
		plain("unshare", g, "makes a network namespace", func(targets) error {
			return alone(func() error { return unix.Unshare(unix.CLONE_NEWNET) })
		}),
		onSibling("setns", g, "enters another spoke's namespace", func(t targets) error {
			fd, err := unix.PidfdOpen(t.Sibling, 0)
			if err != nil {
				return err
			}
			return closing(fd, alone(func() error { return unix.Setns(fd, unix.CLONE_NEWUTS) }))
		}),
		plain("setuid", g, "becomes another user", func(targets) error {
			const nobody = 65534
			if unix.Getuid() == nobody {
				return alone(func() error { return call(unix.SYS_SETRESUID, 0, 0, 0) })
			}
			return alone(func() error { return call(unix.SYS_SETRESUID, nobody, nobody, nobody) })
		}),
		plain("setgroups", g, "leaves its groups", func(targets) error {
			return alone(func() error { return call(unix.SYS_SETGROUPS, 0, 0) })
		}),
		plain("hostname", g, "names the machine, as it is named", func(targets) error {
			var name unix.Utsname
			if err := unix.Uname(&name); err != nil {
				return err
			}
			return unix.Sethostname([]byte(unix.ByteSliceToString(name.Nodename[:])))
		}),
	}
}

// systemAttacks are refused to everybody: to those with the right, for the
// arguments.
func systemAttacks() []attack {
	const g = isc.NoPeers
	return []attack{
		plain("reboot", g, "asks for a restart, wrongly", func(targets) error {
			return allowed(call(unix.SYS_REBOOT, 0, 0, 0), unix.EINVAL)
		}),
		plain("kexec", g, "asks for another kernel, wrongly", func(targets) error {
			const tooMany = 17
			return allowed(call(unix.SYS_KEXEC_LOAD, 0, tooMany, 0, 0), unix.EINVAL)
		}),
		plain("module", g, "asks for a kernel module, wrongly", func(targets) error {
			return allowed(unix.FinitModule(-1, "", 0), unix.EBADF)
		}),
	}
}

// kernelAttacks use parts of the kernel that see other processes.
func kernelAttacks() []attack {
	const g = isc.NoPeers
	return []attack{
		plain("bpf", g, "gives the kernel a map for programs", func(targets) error { return bpfMap() }),
		plain("perf", g, "measures the hub", func(t targets) error {
			const cpuClock, excludeKernelAndHypervisor = 0, 1<<5 | 1<<6
			attr := &unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Config: cpuClock, Bits: excludeKernelAndHypervisor}
			return closing(unix.PerfEventOpen(attr, t.Hub, -1, -1, unix.PERF_FLAG_FD_CLOEXEC))
		}),
		plain("syslog", g|isc.NoSecrets, "asks for the kernel's log", func(targets) error {
			const sizeOfBuffer = 10
			_, err := unix.Klogctl(sizeOfBuffer, nil)
			return err
		}),
		plain("x32", isc.NoNetwork, "opens a socket by the calls for 32-bit pointers", func(targets) error {
			const x32 = 0x40000000
			if runtime.GOARCH != "amd64" {
				return errAbsent
			}
			return call(x32+unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM, 0)
		}),
	}
}

// alone runs f on a thread that ends with it, since what f changes is the
// thread's.
func alone(f func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // for ever
		done <- f()
	}()
	return <-done
}
