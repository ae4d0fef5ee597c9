package egress

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const dialTimeout = 10 * time.Second

// dialer connects to hosts by name, to permitted addresses alone.
type dialer struct {
	addresses addresses
	resolver  *net.Resolver
}

func newDialer(allow []netip.Prefix, resolver *net.Resolver) (*dialer, error) {
	for _, p := range allow {
		if !p.IsValid() || p.Addr().Is4In6() {
			return nil, fmt.Errorf("egress: allowed range %q: must be a prefix of IPv4 or IPv6", p)
		}
	}
	return &dialer{addresses: newAddresses(slices.Clone(allow)), resolver: resolver}, nil
}

// dial resolves the host and connects. Each address is judged when a socket for
// it is made and before it is connected, so what was resolved before, or will
// be next time, does not matter.
func (d *dialer) dial(ctx context.Context, host string, port uint16) (net.Conn, error) {
	judge := func(_ context.Context, network, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil || network != "tcp4" && network != "tcp6" {
			return &RefusedError{Host: host, Reason: "no address of TCP"}
		}
		if reason := d.addresses.refuses(to.Addr()); reason != "" {
			return &RefusedError{Host: host, Reason: fmt.Sprintf("address %s %s", to.Addr(), reason)}
		}
		return nil
	}
	dialer := net.Dialer{Timeout: dialTimeout, Resolver: d.resolver, ControlContext: judge}
	return dialer.DialContext(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(int(port))))
}

// isName says whether host is a name in the form that names are compared in:
// lower-case ASCII, no dot at the end, and nothing that could be an address.
func isName(host string) bool {
	if host == "" || len(host) > 253 {
		return false
	}
	var last string
	for last = range strings.SplitSeq(host, ".") {
		if last == "" || len(last) > 63 || last[0] == '-' || last[len(last)-1] == '-' ||
			strings.Trim(last, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			return false
		}
	}
	return strings.Trim(last, "0123456789") != "" && !strings.HasPrefix(last, "0x")
}

// isWord says whether s is printable ASCII without spaces, and so one word of a
// request's line.
func isWord(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f })
}
