//go:build linux && (amd64 || arm64)

package sandbox

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/isolategpt/isolategpt/isc"
)

// exchanges: memory, queues and keys that processes share by number, and memory of
// the kernel that no limit counts.
func (c *confinement) exchanges() []attempt {
	const (
		private  = 0 // IPC_PRIVATE
		remove   = 0 // IPC_RMID
		ringID   = 0 // KEYCTL_GET_KEYRING_ID
		session  = -3
		elements = 1
		none     = -1 // no descriptor
	)
	return []attempt{
		{"shared memory", isc.HubOnly | isc.MemoryLimit, func() syscall.Errno {
			id, errno := try(unix.SYS_SHMGET, private, 4096, 0o600)
			if errno == 0 {
				_, _ = try(unix.SYS_SHMCTL, int(id), remove, 0)
			}
			return errno
		}, nil},
		{"a message queue", isc.HubOnly, func() syscall.Errno {
			id, errno := try(unix.SYS_MSGGET, private, 0o600)
			if errno == 0 {
				_, _ = try(unix.SYS_MSGCTL, int(id), remove, 0)
			}
			return errno
		}, nil},
		{"semaphores", isc.HubOnly, func() syscall.Errno {
			id, errno := try(unix.SYS_SEMGET, private, elements, 0o600)
			if errno == 0 {
				_, _ = try(unix.SYS_SEMCTL, int(id), 0, remove, 0)
			}
			return errno
		}, nil},
		opens("a named queue", isc.HubOnly, nil, unix.SYS_MQ_OPEN, "isolategpt-absent", 0, 0, 0),
		call("a larger socket", isc.MemoryLimit, nil, unix.SYS_SETSOCKOPT, none, unix.SOL_SOCKET, unix.SO_SNDBUF, 0, 4),
		call("a larger socket, receiving", isc.MemoryLimit, nil, unix.SYS_SETSOCKOPT, none, unix.SOL_SOCKET, unix.SO_RCVBUF, 0, 4),
		call("a larger pipe", isc.MemoryLimit, nil, unix.SYS_FCNTL, none, unix.F_SETPIPE_SZ, 1<<20),
		call("memory in a pipe", isc.MemoryLimit, nil, unix.SYS_VMSPLICE, none, 0, 0, 0),
		call("more for waiting threads", isc.MemoryLimit, nil, unix.SYS_PRCTL, 78, 1, 3), // PR_FUTEX_HASH, SET_SLOTS
		call("a list of rules", isc.MemoryLimit, []syscall.Errno{syscall.ENOSYS}, unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, 0),
		call("keys", isc.HubOnly|isc.NoSecrets, nil, unix.SYS_KEYCTL, ringID, session, 0),
	}
}

// memory: more than there may be, private, shared, and in pieces that are not
// written to any more. Those the limit of a foreign program's data forgets, so
// that only its parent can bound them: there it is the parent's to see whether
// they are (see [DataLimit]).
func (c *confinement) memory() []attempt {
	more := c.more()
	const fresh = unix.MAP_ANONYMOUS | unix.MAP_NORESERVE // which costs nothing until it is touched
	enough := []syscall.Errno{syscall.ENOMEM}
	attempts := []attempt{
		{"map more memory", isc.MemoryLimit, func() syscall.Errno {
			return mapAll(unix.MAP_PRIVATE|fresh, more)
		}, enough},
		{"map more shared memory", isc.MemoryLimit, func() syscall.Errno {
			return mapAll(unix.MAP_SHARED|fresh, more)
		}, enough},
		{"make more reserved memory writable", isc.MemoryLimit, func() syscall.Errno { return c.reserved }, enough},
	}
	if c.foreign() {
		return attempts
	}
	return append(attempts, attempt{"map more memory in pieces", isc.MemoryLimit, func() syscall.Errno {
		return mapAll(unix.MAP_PRIVATE|fresh, more/4, more/4, more/4, more/4)
	}, enough})
}

// more is memory beyond the limit, whatever of it is in use.
func (c *confinement) more() int {
	more := c.Memory + 64<<20
	if !c.foreign() {
		more += c.held.threads
	}
	return int(more)
}

// fillReserved reserves more than the limit and makes it writable, as could be
// done with what runtimes reserve for themselves. It is undone.
func (c *confinement) fillReserved() syscall.Errno {
	const flags = unix.MAP_PRIVATE | unix.MAP_ANONYMOUS | unix.MAP_NORESERVE
	at, errno := try(unix.SYS_MMAP, 0, c.more(), unix.PROT_NONE, flags, -1, 0)
	if errno != 0 {
		return errno
	}
	defer func() { _, _ = try(unix.SYS_MUNMAP, uint64(at), c.more()) }()
	_, errno = try(unix.SYS_MPROTECT, uint64(at), c.more(), unix.PROT_READ|unix.PROT_WRITE)
	return errno
}

var errData = errors.New("memory beyond the limit is to be had")

// dataLimit takes the guarantee from what was shown of a foreign program, and
// says as a layer what is left of it.
func (c *confinement) dataLimit(has isc.Guarantees) isc.Guarantees {
	if !c.foreign() {
		return has
	}
	var absent error
	if !has.Has(isc.MemoryLimit) {
		absent = errData
	}
	c.layer(DataLimit, absent, "")
	return has.Without(isc.MemoryLimit)
}

// mapAll maps pieces, each no longer to be written when the next one comes.
func mapAll(flags int, sizes ...int) syscall.Errno {
	for _, size := range sizes {
		at, errno := try(unix.SYS_MMAP, 0, size, unix.PROT_READ|unix.PROT_WRITE, flags, -1, 0)
		if errno != 0 {
			return errno
		}
		defer func() { _, _ = try(unix.SYS_MUNMAP, uint64(at), size) }()
		if _, errno := try(unix.SYS_MPROTECT, uint64(at), size, unix.PROT_READ); errno != 0 {
			return errno
		}
	}
	return 0
}
