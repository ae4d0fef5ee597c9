//go:build linux && (amd64 || arm64)

package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// maxThreads bounds processes and threads, where they are counted for this
// process alone.
const maxThreads = 1024

// maxSignals bounds signals that wait and timers that send them, counted with all
// that this user has.
const maxSignals = 1024

// A C library gives each thread a stack and, unless it is told otherwise, an arena
// of memory: address space of which next to nothing is used, and which would leave
// nothing of a spoke's memory after some threads. So many of them come on top.
const (
	cThreads = 32
	cStack   = 8 << 20 // at most, or what the limit of stacks says
	cArena   = 64 << 20
)

// oneArena in the environment tells the GNU C library to make no arena a thread.
const oneArena = "MALLOC_ARENA_MAX"

// held is how many bytes of address space and of data this process holds, and how
// many C's threads will take.
type held struct{ space, data, threads int64 }

func nowHeld() (held, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return held{}, fmt.Errorf("sandbox: how much memory is held: %w", err)
	}
	var h held
	for line := range bytes.Lines(status) {
		name, value, _ := bytes.Cut(line, []byte(":"))
		number, kb := bytes.CutSuffix(bytes.TrimSpace(value), []byte(" kB"))
		if n, err := strconv.ParseInt(string(bytes.TrimSpace(number)), 10, 64); kb && err == nil {
			switch string(name) {
			case "VmSize":
				h.space = n << 10
			case "VmData":
				h.data = n << 10
			}
		}
	}
	if h.space <= 0 || h.data <= 0 {
		return held{}, errors.New("sandbox: how much memory is held: /proc/self/status does not say")
	}
	if threadsFromC {
		var stack unix.Rlimit
		if err := unix.Prlimit(0, unix.RLIMIT_STACK, nil, &stack); err != nil {
			return held{}, fmt.Errorf("sandbox: how large a stack is: %w", err)
		}
		h.threads = cThreads * int64(min(stack.Cur, cStack))
		// As C read it: the program may have cleared its own copy since.
		environ, err := os.ReadFile("/proc/self/environ")
		if err != nil || !bytes.Contains(append([]byte{0}, environ...), []byte("\x00"+oneArena+"=1\x00")) {
			h.threads += cThreads * cArena
		}
	}
	return h, nil
}

// limitData bounds data for good: memory that can be written and is not shared,
// however it became so. Address space is no measure of it, since a runtime
// reserves much that costs nothing until it is made writable.
func limitData(p Profile, h held) error {
	n := h.data + p.Memory
	if !p.foreign() {
		n += h.threads
	}
	if err := bound(unix.RLIMIT_DATA, n); err != nil {
		return fmt.Errorf("sandbox: limit of data: %w", err)
	}
	return nil
}

// limit sets each other bound for good: what is soft is hard.
func limit(p Profile, h held) error {
	set := []struct {
		what  string
		which int
		bytes int64
	}{
		{"open files", unix.RLIMIT_NOFILE, int64(p.Files)},
		// Of 1 none is made. 0 would let them pass to a program that the system names
		// for them, once execution has made this process dumpable again.
		{"core dumps", unix.RLIMIT_CORE, 1},
		{"locked memory", unix.RLIMIT_MEMLOCK, 0},
		{"pending signals", unix.RLIMIT_SIGPENDING, maxSignals},
		{"message queues", unix.RLIMIT_MSGQUEUE, 0},
		{"address space", unix.RLIMIT_AS, h.space + p.Memory + h.threads},
		{"file size", unix.RLIMIT_FSIZE, 0},
		{"threads", unix.RLIMIT_NPROC, maxThreads},
	}
	for _, l := range set {
		switch {
		case l.which == unix.RLIMIT_AS && p.foreign():
			continue // some runtimes reserve more than any limit
		case l.which == unix.RLIMIT_FSIZE && p.foreign() && len(p.Program.Write) > 0:
			continue
		case l.which == unix.RLIMIT_NPROC && !p.Namespaces:
			continue // counted for all that this user runs
		}
		if err := bound(l.which, l.bytes); err != nil {
			return fmt.Errorf("sandbox: limit of %s: %w", l.what, err)
		}
	}
	return nil
}

// bound lowers soft and hard limit to at most n.
func bound(which int, n int64) error {
	var now unix.Rlimit
	if err := unix.Prlimit(0, which, nil, &now); err != nil {
		return err
	}
	now.Max = min(now.Max, uint64(n))
	now.Cur = now.Max
	return unix.Prlimit(0, which, &now, nil)
}

// locks says that the program may lock and watch files.
func (p Profile) locks() bool { return p.foreign() && len(p.Program.Write) > 0 }

func (p Profile) foreign() bool { return p.Program != nil && !p.Program.Static }
