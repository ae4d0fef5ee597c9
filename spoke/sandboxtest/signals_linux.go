package sandboxtest

import (
	"golang.org/x/sys/unix"

	"github.com/isolategpt/isolategpt/isc"
)

// hubDescriptor is the connection to the hub in every process of a spoke.
const hubDescriptor = 3

// signalAttacks reach other processes by signals. Where nothing counts them,
// they ask with the signal 0, which only asks.
func signalAttacks() []attack {
	const g = isc.NoPeers
	byFcntl := onSibling("signal-fcntl", g, "lets the kernel signal another spoke (F_SETOWN, F_SETSIG, O_ASYNC)", signalByFcntl)
	byFcntl.effect = signalled
	byIoctl := onSibling("signal-ioctl", g, "the same by ioctl on its connection (FIOSETOWN, FIOASYNC)", signalByIoctl)
	byIoctl.effect = signalled
	real := onSibling("signal-sibling", g, "signals another spoke", func(t targets) error { return unix.Kill(t.Sibling, unix.SIGUSR1) })
	real.effect = signalled
	return []attack{
		plain("signal-hub", g, "signals the hub", func(t targets) error { return unix.Kill(t.Hub, 0) }),
		real,
		plain("signal-group", g, "signals the hub's process group", func(t targets) error { return unix.Kill(-t.HubGroup, 0) }),
		plain("signal-all", g, "signals every process", func(targets) error { return unix.Kill(-1, 0) }),
		onSibling("signal-thread", g, "signals a thread of another spoke", func(t targets) error {
			return unix.Tgkill(t.Sibling, t.Sibling, 0)
		}),
		onSibling("signal-queue", g, "queues a signal for another spoke", func(t targets) error { return queueSignal(t.Sibling) }),
		onSibling("signal-pidfd", g, "signals another spoke through a descriptor", func(t targets) error {
			fd, err := unix.PidfdOpen(t.Sibling, 0)
			if err != nil {
				return err
			}
			return closing(fd, unix.PidfdSendSignal(fd, 0, nil, 0))
		}),
		byFcntl,
		byIoctl,
		plain("terminal-input", g, "types into a terminal (TIOCSTI)", typeInto),
	}
}

// signalByFcntl makes the kernel signal the sibling when data come: on a pipe,
// or, where no pipe is to be had, on the connection to the hub.
func signalByFcntl(t targets) error {
	reader := hubDescriptor
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err == nil {
		reader = pipe[0]
	}
	for _, c := range [][2]int{{unix.F_SETOWN, t.Sibling}, {unix.F_SETSIG, int(unix.SIGUSR1)}, {unix.F_SETFL, unix.O_ASYNC | unix.O_NONBLOCK}} {
		if _, err := unix.FcntlInt(uintptr(reader), c[0], c[1]); err != nil {
			return err
		}
	}
	if reader == hubDescriptor {
		return nil // the hub's closing is the event
	}
	_, err := unix.Write(pipe[1], []byte("x"))
	return err
}

func signalByIoctl(t targets) error {
	const fioSetOwn, fioAsync = 0x8901, 0x5452
	err := unix.IoctlSetPointerInt(hubDescriptor, fioSetOwn, t.Sibling)
	if err != nil {
		return err
	}
	return unix.IoctlSetPointerInt(hubDescriptor, fioAsync, 1)
}

// typeInto types into a terminal of its own making.
func typeInto(targets) error {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
	if err != nil {
		return err
	}
	return closing(fd, unix.IoctlSetPointerInt(fd, unix.TIOCSTI, ' '))
}
