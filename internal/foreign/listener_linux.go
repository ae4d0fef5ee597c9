package foreign

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/isolategpt/isolategpt/internal/sandbox"
)

// passListener makes the proxy's listener inside the process's own network
// namespace and passes it out, where the parent accepts on it. The process keeps
// none.
func passListener(p sandbox.Profile) error {
	if !p.Namespaces {
		return errors.New("it needs a network namespace of its own")
	}
	if err := raiseLoopback(); err != nil {
		return err
	}
	fd, err := listen(p.Program.Proxy)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	return unix.Sendmsg(channel, []byte{0}, unix.UnixRights(fd), nil, 0)
}

func raiseLoopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo)
}

func listen(port int) (int, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return -1, err
	}
	err = unix.Bind(fd, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}})
	if err == nil {
		err = unix.Listen(fd, unix.SOMAXCONN)
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}
