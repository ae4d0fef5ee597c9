//go:build linux && (amd64 || arm64)

package sandbox

import (
	"encoding/binary"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/isolategpt/isolategpt/isc"
)

// network: a socket of any kind, and the ring that makes calls without making
// them.
func (c *confinement) network() []attempt {
	const breaks = isc.NoNetwork | isc.HubOnly
	kinds := []struct {
		what                   string
		domain, kind, protocol int
	}{
		{"tcp socket", unix.AF_INET, unix.SOCK_STREAM, 0},
		{"tcp6 socket", unix.AF_INET6, unix.SOCK_STREAM, 0},
		{"mptcp socket", unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP},
		{"udp socket", unix.AF_INET, unix.SOCK_DGRAM, 0},
		{"udp6 socket", unix.AF_INET6, unix.SOCK_DGRAM, 0},
		{"raw socket", unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP},
		{"unix socket", unix.AF_UNIX, unix.SOCK_STREAM, 0},
		{"unix datagram socket", unix.AF_UNIX, unix.SOCK_DGRAM, 0},
		{"unix packet socket", unix.AF_UNIX, unix.SOCK_SEQPACKET, 0},
		{"netlink socket", unix.AF_NETLINK, unix.SOCK_RAW, 0},
		{"packet socket", unix.AF_PACKET, unix.SOCK_RAW, 0},
		{"vsock socket", unix.AF_VSOCK, unix.SOCK_STREAM, 0},
		{"alg socket", unix.AF_ALG, unix.SOCK_SEQPACKET, 0},
	}
	var out []attempt
	for i, k := range kinds {
		if i == 0 && c.Program != nil && c.Program.Proxy != 0 {
			out = append(out, c.otherPorts(breaks)...)
			continue
		}
		out = append(out, opens(k.what, breaks, nil, unix.SYS_SOCKET, k.domain, k.kind, k.protocol))
	}
	for _, k := range kinds {
		if k.domain == unix.AF_UNIX && k.kind != unix.SOCK_STREAM {
			out = append(out, attempt{"pair of " + k.what + "s", breaks, func() syscall.Errno { return pair(k.kind) }, nil})
		}
	}
	return append(out, opens("io_uring", breaks|isc.NoFiles, nil, unix.SYS_IO_URING_SETUP, 1, make([]byte, 120)))
}

// pair makes two sockets, from which datagrams can be sent to any address.
func pair(kind int) syscall.Errno {
	fds := make([]byte, 8)
	if _, errno := try(unix.SYS_SOCKETPAIR, unix.AF_UNIX, kind|unix.SOCK_CLOEXEC, 0, fds); errno != 0 {
		return errno
	}
	for _, fd := range [][]byte{fds[:4], fds[4:]} {
		_ = unix.Close(int(binary.NativeEndian.Uint32(fd)))
	}
	return 0
}

// otherPorts connects to what is not the proxy: another port here, the same port
// of another host, and with data in the first packet.
func (c *confinement) otherPorts(breaks isc.Guarantees) []attempt {
	other := 1
	if c.Program.Proxy == other {
		other = 2
	}
	connect := func(address []byte) func() syscall.Errno {
		return onSocket(func(fd int) syscall.Errno {
			_, errno := try(unix.SYS_CONNECT, fd, address, len(address))
			return errno
		})
	}
	return []attempt{
		{"connect to another port", breaks, connect(inet(127, other)), nil},
		{"connect to another host", breaks, connect(inet(192, other)), nil},
		{"listen", breaks, onSocket(func(fd int) syscall.Errno {
			_, errno := try(unix.SYS_LISTEN, fd, 1)
			return errno
		}), nil},
		{"connect by sending", breaks, onSocket(func(fd int) syscall.Errno {
			address := inet(127, other)
			_, errno := try(unix.SYS_SENDTO, fd, []byte{0}, 1, unix.MSG_FASTOPEN|unix.MSG_NOSIGNAL, address, len(address))
			return errno
		}), nil},
	}
}

func onSocket(f func(fd int) syscall.Errno) func() syscall.Errno {
	return func() syscall.Errno {
		fd, errno := try(unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
		if errno != 0 {
			return syscall.ENOTSUP // the proxy is out of reach: nothing was tried
		}
		defer unix.Close(int(fd))
		return f(int(fd))
	}
}

// inet is the socket address 127.0.0.1 or 192.0.2.1 (nobody's, by RFC 5737).
func inet(first byte, port int) []byte {
	b := binary.NativeEndian.AppendUint16(nil, unix.AF_INET)
	b = binary.BigEndian.AppendUint16(b, uint16(port))
	host := []byte{127, 0, 0, 1}
	if first != 127 {
		host = []byte{192, 0, 2, 1}
	}
	return append(append(b, host...), make([]byte, 8)...)
}
