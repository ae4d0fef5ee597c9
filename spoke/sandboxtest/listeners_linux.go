package sandboxtest

import (
	"io"
	"net"
	"sync"
)

// listeners are what attacks connect to, on the loopback interface alone.
type listeners struct {
	all   []io.Closer
	owned sync.WaitGroup
}

func (l *listeners) open(t *targets) error {
	tcp, err := l.listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	t.TCP = tcp.Addr().(*net.TCPAddr).Port
	if _, err := l.listen("unix", t.Socket); err != nil {
		return err
	}
	if _, err := l.listen("unix", "@"+t.Abstract); err != nil {
		return err
	}
	if err := l.receive(t.Datagram); err != nil {
		return err
	}
	udp, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return err
	}
	t.UDP = udp.LocalAddr().(*net.UDPAddr).Port
	l.all = append(l.all, udp)
	l.owned.Go(func() { answerNames(udp) })
	return nil
}

// listen accepts and hangs up.
func (l *listeners) listen(network, address string) (net.Listener, error) {
	listener, err := net.Listen(network, address) //nolint:noctx // it does not block
	if err != nil {
		return nil, err
	}
	l.all = append(l.all, listener)
	l.owned.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
		}
	})
	return listener, nil
}

// receive takes datagrams and throws them away.
func (l *listeners) receive(path string) error {
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		return err
	}
	l.all = append(l.all, c)
	l.owned.Go(func() { _, _ = io.Copy(io.Discard, c) })
	return nil
}

// answerNames says of every name that there is no such (RFC 1035, 4.1.1).
func answerNames(c *net.UDPConn) {
	packet := make([]byte, 1500)
	for {
		n, from, err := c.ReadFromUDP(packet)
		if err != nil {
			return
		}
		if n < 12 {
			continue
		}
		packet[2] |= 0x80              // a response
		packet[3] = packet[3]&0x70 | 3 // no such name
		_, _ = c.WriteToUDP(packet[:n], from)
	}
}

func (l *listeners) close() {
	for _, c := range l.all {
		_ = c.Close()
	}
	l.owned.Wait()
}
