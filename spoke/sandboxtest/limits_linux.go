package sandboxtest

import (
	"bytes"
	"errors"
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/isolategpt/isolategpt/isc"
)

// hubAttacks are on what the hub might have left to the spoke, and on its hold.
func hubAttacks() []attack {
	descriptor := probe("descriptor", isc.NoSecrets, "reads a descriptor that the hub left open", readInherited)
	descriptor.exclusive = true // some launchers close what would be inherited, for all
	return []attack{
		probe("environment", isc.CleanEnv, "looks for a variable of the hub's", func(t targets) error {
			return need(t.Variable, findVariable)
		}),
		descriptor,
		probe("death-signal", isc.DiesWithHub, "no longer dies with the hub", func(targets) error {
			return onMainThread(func() error { return unix.Prctl(unix.PR_SET_PDEATHSIG, 0, 0, 0, 0) })
		}),
	}
}

// limitAttacks use more than is theirs.
func limitAttacks() []attack {
	const g = isc.MemoryLimit
	return []attack{
		probe("memory-heap", g, "grows its heap", growHeap),
		probe("memory-private", g, "maps private memory", func(t targets) error { return mapMemory(t, unix.MAP_PRIVATE) }),
		probe("memory-shared", g, "maps shared memory", func(t targets) error { return mapMemory(t, unix.MAP_SHARED) }),
		probe("memory-reserve", g, "maps memory that is not accounted", func(t targets) error {
			return mapMemory(t, unix.MAP_PRIVATE|unix.MAP_NORESERVE)
		}),
		probe("raise-limit", g, "lifts its own limit of memory", func(targets) error {
			return unix.Prlimit(0, unix.RLIMIT_AS, &unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}, nil)
		}),
		probe("descriptors", g, "opens 1,000 pipes, each with memory of the kernel's", func(targets) error {
			for range 1000 {
				var pipe [2]int
				if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
					return err
				}
			}
			return nil
		}),
	}
}

// known are attacks against which nothing is promised, though isolations may
// refuse them.
func known() []attack {
	return []attack{
		probe("threads", 0, "starts 500 threads; bounded by memory, and by number only in a user namespace", func(targets) error {
			return startThreads(500)
		}),
		probe("dumpable", 0, "lets others of its user read its memory again", func(targets) error {
			return unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0)
		}),
		probe("userfaultfd", 0, "handles its own page faults, as exploits of the kernel like to", func(targets) error {
			const userModeOnly = 1
			fd, _, errno := unix.Syscall(unix.SYS_USERFAULTFD, unix.O_CLOEXEC|userModeOnly, 0, 0)
			return closing(int(fd), failed(errno))
		}),
		probe("uname", 0, "asks for the name and version of the system", func(targets) error {
			var name unix.Utsname
			return unix.Uname(&name)
		}),
	}
}

// onMainThread runs f on the process's first thread, which alone has a signal for
// the hub's death: it occupies threads until it has that one.
func onMainThread(f func() error) error {
	const most = 100
	result, end := make(chan error, most), make(chan struct{})
	defer close(end)
	for range most {
		go func() {
			runtime.LockOSThread()
			if unix.Gettid() == os.Getpid() {
				result <- f()
				return
			}
			result <- errElsewhere
			<-end
		}()
	}
	for range most {
		if err := <-result; !errors.Is(err, errElsewhere) {
			return err
		}
	}
	return errElsewhere
}

var errElsewhere = errors.New("not the first thread")

func readInherited(t targets) error {
	got := make([]byte, len(t.Secret))
	if _, err := unix.Pread(t.Descriptor, got, 0); err != nil {
		return err
	}
	if string(got) != t.Secret {
		return errors.New("another file")
	}
	return nil
}

func findVariable(name string) error {
	if _, ok := os.LookupEnv(name); ok {
		return nil
	}
	all, err := os.ReadFile("/proc/self/environ") // as it was at the start
	if err != nil {
		return err
	}
	if !bytes.Contains(append([]byte{0}, all...), []byte("\x00"+name+"=")) {
		return errors.New("not there")
	}
	return nil
}

// growHeap fills the heap in pieces until it has what it must not have, or the
// runtime ends the process.
func growHeap(t targets) error {
	const piece = 16 << 20
	var all [][]byte
	for n := int64(0); n < t.Memory; n += piece {
		p := make([]byte, piece)
		p[0] = 1
		all = append(all, p)
	}
	runtime.KeepAlive(all)
	return nil
}

func mapMemory(t targets, flags int) error {
	m, err := unix.Mmap(-1, 0, int(t.Memory), unix.PROT_READ|unix.PROT_WRITE, flags|unix.MAP_ANONYMOUS)
	if err != nil {
		return err
	}
	m[0], m[len(m)-1] = 1, 1
	return unix.Munmap(m)
}

// startThreads has n threads at once. Where they cannot be had the runtime ends
// the process.
func startThreads(n int) error {
	started, end := make(chan struct{}), make(chan struct{})
	defer close(end)
	for range n {
		go func() {
			runtime.LockOSThread()
			started <- struct{}{}
			<-end
		}()
	}
	for range n {
		<-started
	}
	return nil
}
