package sandboxtest

import (
	"path"

	"golang.org/x/sys/unix"

	"github.com/isolategpt/isolategpt/isc"
)

// channelAttacks make what two spokes could talk through.
func channelAttacks() []attack {
	const g = isc.HubOnly
	return []attack{
		plain("shm-sysv", g, "makes a System V shared memory", func(targets) error {
			id, err := unix.SysvShmGet(unix.IPC_PRIVATE, 4096, unix.IPC_CREAT|0o600)
			if err != nil {
				return err
			}
			_, err = unix.SysvShmCtl(id, unix.IPC_RMID, nil)
			return err
		}),
		plain("msg-sysv", g, "makes a System V message queue", func(targets) error {
			id, _, errno := unix.Syscall(unix.SYS_MSGGET, unix.IPC_PRIVATE, unix.IPC_CREAT|0o600, 0)
			if errno != 0 {
				return errno
			}
			return call(unix.SYS_MSGCTL, id, unix.IPC_RMID)
		}),
		plain("sem-sysv", g, "makes a System V semaphore", func(targets) error {
			id, _, errno := unix.Syscall(unix.SYS_SEMGET, unix.IPC_PRIVATE, 1, unix.IPC_CREAT|0o600)
			if errno != 0 {
				return errno
			}
			return call(unix.SYS_SEMCTL, id, 0, unix.IPC_RMID)
		}),
		plain("mqueue", g, "makes a POSIX message queue", func(t targets) error { return messageQueue(path.Base(path.Dir(t.Dir)) + path.Base(t.Dir)) }),
		plain("keyring", g, "puts a key into the kernel", func(targets) error {
			_, err := unix.AddKey("user", "sandboxtest", []byte("x"), unix.KEY_SPEC_PROCESS_KEYRING)
			return err
		}),
	}
}
