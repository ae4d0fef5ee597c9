package sandboxtest

import (
	"context"
	"errors"
	"net"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/isolategpt/isolategpt/isc"
)

// socketAttacks open sockets.
func socketAttacks() []attack {
	open := func(name, description string, family, kind, protocol int) attack {
		return plain(name, isc.NoNetwork, description, func(targets) error {
			return closing(unix.Socket(family, kind|unix.SOCK_CLOEXEC, protocol))
		})
	}
	return []attack{
		open("socket-inet", "opens a TCP socket", unix.AF_INET, unix.SOCK_STREAM, 0),
		open("socket-inet6", "opens a UDP socket of IPv6", unix.AF_INET6, unix.SOCK_DGRAM, 0),
		open("socket-unix", "opens a Unix socket", unix.AF_UNIX, unix.SOCK_STREAM, 0),
		open("socket-netlink", "opens a socket to the kernel's network tables", unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE),
		open("socket-packet", "opens a socket for whole packets", unix.AF_PACKET, unix.SOCK_RAW, 0),
		open("socket-raw", "opens a raw socket", unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP),
		open("socket-ping", "opens a socket for pings", unix.AF_INET, unix.SOCK_DGRAM, unix.IPPROTO_ICMP),
		open("socket-vsock", "opens a socket to the machine below", unix.AF_VSOCK, unix.SOCK_STREAM, 0),
		open("socket-alg", "opens a socket to the kernel's ciphers", unix.AF_ALG, unix.SOCK_SEQPACKET, 0),
		open("socket-xdp", "opens a socket to a network card", unix.AF_XDP, unix.SOCK_RAW, 0),
		plain("socketpair", isc.NoNetwork, "opens a pair of sockets", func(targets) error {
			pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
			if err == nil {
				_ = unix.Close(pair[1])
			}
			return closing(pair[0], err)
		}),
		plain("io-uring", isc.NoNetwork|isc.NoFiles, "makes a queue of system calls that no filter sees", func(targets) error { return ioUring() }),
		// The first descriptor is the connection to the hub in every spoke.
		plain("bind-inherited", isc.NoNetwork, "gives its own connection an abstract name", func(t targets) error {
			return unix.Bind(hubDescriptor, &unix.SockaddrUnix{Name: "@" + t.Dir})
		}),
	}
}

// connectAttacks reach somebody.
func connectAttacks() []attack {
	const g = isc.NoNetwork | isc.HubOnly
	return []attack{
		plain("tcp-connect", g, "connects to a TCP port", func(t targets) error { return connectTCP(t, 0) }),
		plain("mptcp-connect", g, "connects by multipath TCP", func(t targets) error { return connectTCP(t, unix.IPPROTO_MPTCP) }),
		plain("tcp-fastopen", g, "connects by sending at once", fastOpen),
		plain("tcp-listen", g, "listens on a TCP port", func(targets) error {
			l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
			if err == nil {
				_ = l.Close()
			}
			return err
		}),
		plain("udp-send", g, "sends a datagram", func(t targets) error {
			fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
			if err != nil {
				return err
			}
			return closing(fd, unix.Sendto(fd, []byte("x"), 0, loopback(t.UDP)))
		}),
		plain("dns-lookup", g, "asks a name server", lookup),
		plain("unix-connect", g, "connects to a Unix socket by its path", func(t targets) error { return connectUnix(t.Socket) }),
		plain("unix-datagram", g, "sends a datagram from one of a pair of sockets to another's path", sendFromPair),
		plain("unix-abstract", g, "connects to a Unix socket by its abstract name", func(t targets) error { return connectUnix("@" + t.Abstract) }),
	}
}

func loopback(port int) *unix.SockaddrInet4 {
	return &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}
}

func connectTCP(t targets, protocol int) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, protocol)
	if err != nil {
		return err
	}
	err = unix.Connect(fd, loopback(t.TCP))
	_ = unix.Close(fd)
	return err
}

func fastOpen(t targets) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	err = unix.Sendto(fd, []byte("x"), unix.MSG_FASTOPEN, loopback(t.TCP))
	_ = unix.Close(fd)
	return err
}

func connectUnix(name string) error {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	err = unix.Connect(fd, &unix.SockaddrUnix{Name: name})
	_ = unix.Close(fd)
	return err
}

// sendFromPair needs no socket that was opened alone.
func sendFromPair(t targets) error {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	_ = unix.Close(pair[1])
	return closing(pair[0], unix.Sendto(pair[0], []byte("x"), 0, &unix.SockaddrUnix{Name: t.Datagram}))
}

// lookup asks the server of targets, as a resolver does. That there is no such
// name is an answer.
func lookup(t targets) error {
	var dialed error
	r := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (c net.Conn, err error) {
		c, dialed = (&net.Dialer{}).DialContext(ctx, "udp", net.JoinHostPort("127.0.0.1", strconv.Itoa(t.UDP)))
		return c, dialed
	}}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_, err := r.LookupHost(ctx, "sandboxtest.invalid.")
	switch e, ok := errors.AsType[*net.DNSError](err); {
	case dialed != nil:
		return dialed
	case ok && e.IsNotFound:
		return nil
	default:
		return err
	}
}
