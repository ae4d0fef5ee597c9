package egress_test

import (
	"context"
	"crypto/x509"
	"encoding/binary"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/spoke"
	"github.com/isolategpt/isolategpt/spoke/egress"
)

// loopback stands for the public network in these tests.
var loopback = netip.MustParsePrefix("127.0.0.1/32")

// remote is a server that is reached as example.com, with a client for it.
type remote struct {
	*httptest.Server
	port uint16
}

func start(t testing.TB, secure bool, h http.HandlerFunc) remote {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.EnableHTTP2 = true // so that a client that spoke it would
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	if secure {
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	require.NoError(t, err)
	n, err := strconv.ParseUint(port, 10, 16)
	require.NoError(t, err)
	return remote{s, uint16(n)}
}

// client reaches r as example.com; edit changes the rest.
func (r remote) client(t testing.TB, edit func(*egress.Config, *egress.Host)) *egress.Client {
	t.Helper()
	cfg := egress.Config{Allow: []netip.Prefix{loopback}, Resolver: names(func(string) []string { return []string{"127.0.0.1"} })}
	if r.TLS != nil {
		cfg.RootCAs = x509.NewCertPool()
		cfg.RootCAs.AddCert(r.Certificate())
	}
	host := egress.Host{Port: r.port}
	if edit != nil {
		edit(&cfg, &host)
	}
	if cfg.Hosts == nil {
		cfg.Hosts = map[string]egress.Host{}
	}
	cfg.Hosts["example.com"] = host
	c, err := egress.New(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

func get(url string) spoke.HTTPRequest { return spoke.HTTPRequest{Method: "GET", URL: url} }

// names is a resolver whose name server answers as it is told, each time anew.
func names(answer func(name string) []string) *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go serveNames(theirs, answer)
		return ours, nil
	}}
}

// serveNames speaks DNS over a stream until it ends (RFC 1035, sections 4.1 and
// 4.2.2).
func serveNames(conn net.Conn, answer func(string) []string) {
	defer func() { _ = conn.Close() }()
	for {
		var size [2]byte
		if _, err := io.ReadFull(conn, size[:]); err != nil {
			return
		}
		query := make([]byte, binary.BigEndian.Uint16(size[:]))
		if _, err := io.ReadFull(conn, query); err != nil {
			return
		}
		name, end := "", 12
		for query[end] != 0 {
			n := int(query[end])
			name += string(query[end+1:end+1+n]) + "."
			end += n + 1
		}
		kind := binary.BigEndian.Uint16(query[end+1:])
		reply := append([]byte{query[0], query[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, query[12:end+5]...)
		for _, a := range answer(name[:len(name)-1]) {
			raw := netip.MustParseAddr(a).AsSlice()
			if len(raw) == 4 && kind != 1 || len(raw) == 16 && kind != 28 {
				continue
			}
			reply[7]++
			reply = append(reply, 0xc0, 12, 0, byte(kind), 0, 1, 0, 0, 0, 0, 0, byte(len(raw)))
			reply = append(reply, raw...)
		}
		if _, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...)); err != nil {
			return
		}
	}
}
