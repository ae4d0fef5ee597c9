package egress

import (
	"net"
	"net/netip"
)

// special are the ranges that nobody outside answers for, or that lead back
// inside: the special-purpose registries of RFC 6890 with what was added since,
// translated and tunnelled addresses (whose inner address could be any), and
// the one public address that a cloud keeps for its own machines. What of IPv6
// is not 2000::/3 is special anyhow.
func special() [][2]string {
	return [][2]string{
		{"0.0.0.0/8", "this network"},
		{"10.0.0.0/8", "private"},
		{"100.64.0.0/10", "shared by carriers"},
		{"127.0.0.0/8", "loopback"},
		{"168.63.129.16/32", "a cloud's own"},
		{"169.254.0.0/16", "link-local"},
		{"172.16.0.0/12", "private"},
		{"192.0.0.0/24", "of protocols"},
		{"192.0.2.0/24", "for documentation"},
		{"192.31.196.0/24", "of protocols"},
		{"192.52.193.0/24", "of protocols"},
		{"192.88.99.0/24", "a 6to4 relay"},
		{"192.168.0.0/16", "private"},
		{"192.175.48.0/24", "of protocols"},
		{"198.18.0.0/15", "for benchmarks"},
		{"198.51.100.0/24", "for documentation"},
		{"203.0.113.0/24", "for documentation"},
		{"224.0.0.0/4", "multicast"},
		{"240.0.0.0/4", "reserved"},

		{"::/128", "unspecified"},
		{"::1/128", "loopback"},
		{"64:ff9b::/96", "translated to IPv4"},
		{"64:ff9b:1::/48", "translated to IPv4"},
		{"100::/64", "discarded"},
		{"2001::/32", "tunnelled by Teredo"},
		{"2001::/23", "of protocols"},
		{"2001:db8::/32", "for documentation"},
		{"2002::/16", "tunnelled by 6to4"},
		{"2620:4f:8000::/48", "of protocols"},
		{"3fff::/20", "for documentation"},
		{"5f00::/16", "of segment routing"},
		{"fc00::/7", "private"},
		{"fe80::/10", "link-local"},
		{"fec0::/10", "site-local"},
		{"ff00::/8", "multicast"},
	}
}

type namedRange struct {
	prefix netip.Prefix
	name   string
}

// addresses decides which addresses may be connected to.
type addresses struct {
	special []namedRange
	global6 netip.Prefix
	allow   []netip.Prefix
	// own are this machine's, as of now.
	own func() ([]net.Addr, error)
}

func newAddresses(allow []netip.Prefix) addresses {
	a := addresses{global6: netip.MustParsePrefix("2000::/3"), allow: allow, own: net.InterfaceAddrs}
	for _, s := range special() {
		a.special = append(a.special, namedRange{netip.MustParsePrefix(s[0]), s[1]})
	}
	return a
}

// refuses says why an address may not be connected to, or "".
func (a addresses) refuses(addr netip.Addr) string {
	if addr.Zone() != "" {
		return "has a zone"
	}
	addr = addr.Unmap() // what is connected to is the IPv4 address
	for _, p := range a.allow {
		if p.Contains(addr) {
			return ""
		}
	}
	for _, s := range a.special {
		if s.prefix.Contains(addr) {
			return "is " + s.name
		}
	}
	if !addr.Is4() && !a.global6.Contains(addr) {
		return "is not global"
	}
	return a.refusesOwn(addr)
}

// refusesOwn keeps from this machine's own public addresses, behind which
// services may listen that trust their machine.
func (a addresses) refusesOwn(addr netip.Addr) string {
	own, err := a.own()
	if err != nil {
		return "cannot be told from this machine's own"
	}
	for _, o := range own {
		if p, err := netip.ParsePrefix(o.String()); err == nil && p.Addr().Unmap() == addr {
			return "is this machine's own"
		}
	}
	return ""
}
