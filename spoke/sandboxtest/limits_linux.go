package sandboxtest

import (
	"bytes"
	"errors"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"github.com/isolategpt/isolategpt/isc"
)

// hubAttacks are on what the hub might have left to the spoke, and on its hold.
func hubAttacks() []attack {
	descriptor := plain("descriptor", isc.NoSecrets, "reads a descriptor that the hub left open", readInherited)
	descriptor.exclusive = true // some launchers close what would be inherited, for all
	return []attack{
		plain("environment", isc.CleanEnv, "looks for a variable of the hub's", func(t targets) error {
			return need(t.Variable, findVariable)
		}),
		descriptor,
		plain("death-signal", isc.DiesWithHub, "no longer dies with the hub", func(targets) error {
			return onMainThread(func() error { return unix.Prctl(unix.PR_SET_PDEATHSIG, 0, 0, 0, 0) })
		}),
	}
}

// limitAttacks use more than is theirs.
func limitAttacks() []attack {
	const g = isc.MemoryLimit
	return []attack{
		plain("memory-heap", g, "grows its heap", growHeap),
		plain("memory-private", g, "maps private memory", func(t targets) error { return mapMemory(t, unix.MAP_PRIVATE) }),
		plain("memory-shared", g, "maps shared memory", func(t targets) error { return mapMemory(t, unix.MAP_SHARED) }),
		plain("memory-reserve", g, "maps memory that is not accounted", func(t targets) error {
			return mapMemory(t, unix.MAP_PRIVATE|unix.MAP_NORESERVE)
		}),
		plain("memory-reserved", g, "uses memory that its runtime has reserved", useReserved),
		plain("memory-tables", g, "uses pages far from each other, each with tables of the kernel's", spreadPages),
		plain("pipe-size", g, "makes a pipe larger, with memory of the kernel's", func(targets) error {
			var pipe [2]int
			if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
				return err
			}
			_, err := unix.FcntlInt(uintptr(pipe[0]), unix.F_SETPIPE_SZ, 1<<20)
			return err
		}),
		plain("raise-limit", g, "lifts its own limit of memory", func(targets) error {
			return unix.Prlimit(0, unix.RLIMIT_AS, &unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}, nil)
		}),
		plain("descriptors", g, "opens 1,000 pipes, each with memory of the kernel's", func(targets) error {
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
		plain("threads", 0, "starts 500 threads; bounded by memory, and by number only in a user namespace", func(targets) error {
			return startThreads(500)
		}),
		plain("threads-many", 0, "starts 1,200 threads", func(targets) error {
			err := startThreads(1200)
			time.Sleep(noticed)
			return err
		}),
		plain("dumpable", 0, "lets others of its user read its memory again", func(targets) error {
			return unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0)
		}),
		plain("userfaultfd", 0, "handles its own page faults, as exploits of the kernel like to", func(targets) error {
			const userModeOnly = 1
			fd, _, errno := unix.Syscall(unix.SYS_USERFAULTFD, unix.O_CLOEXEC|userModeOnly, 0, 0)
			return closing(int(fd), failed(errno))
		}),
		plain("uname", 0, "asks for the name and version of the system", func(targets) error {
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

// noticed is how long an attack goes on holding what it got, for those who look
// from outside.
const noticed = time.Second

// useReserved makes memory that is reserved writable and uses it. It looks near to
// where new memory is, for pieces that are whole.
func useReserved(t targets) error {
	const piece, around = 16 << 20, 8 << 30
	m, err := unix.Mmap(-1, 0, 1, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return err
	}
	near := addressOf(m) &^ (piece - 1)
	_ = unix.Munmap(m)
	held, refusal := int64(0), error(unix.ENOMEM)
	for at := near - around; at < near+around && held < t.Held; at += piece {
		// Only what is mapped from end to end: the change of any other would stop in
		// the middle.
		if call(unix.SYS_MADVISE, at, piece, unix.MADV_NOHUGEPAGE) != nil && call(unix.SYS_MADVISE, at, piece, unix.MADV_NORMAL) != nil {
			continue
		}
		if err := call(unix.SYS_MPROTECT, at, piece, unix.PROT_READ|unix.PROT_WRITE); err != nil {
			refusal = err
			continue
		}
		for page := at; page < at+piece; page += 4096 {
			use(page)
		}
		held += piece
	}
	if held < t.Held {
		return refusal
	}
	time.Sleep(noticed)
	return nil
}

// spreadPages uses one page of every 2 MiB, which takes another page for a table.
func spreadPages(t targets) error {
	const from, apart, page = 0x100000000000, 2 << 20, 4096
	const flags = unix.MAP_PRIVATE | unix.MAP_ANONYMOUS | unix.MAP_FIXED_NOREPLACE
	at := uintptr(from)
	for held := int64(0); held < t.Held; held += 2 * page {
		if err := call(unix.SYS_MMAP, at, page, unix.PROT_READ|unix.PROT_WRITE, flags, ^uintptr(0), 0); err != nil {
			return err
		}
		use(at)
		at += apart
	}
	time.Sleep(noticed)
	return nil
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
