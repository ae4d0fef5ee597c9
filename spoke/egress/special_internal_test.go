package egress

import (
	"errors"
	"net"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestEverySpecialRangeIsRefused(t *testing.T) {
	a := newAddresses(nil)
	for _, s := range special() {
		p := netip.MustParsePrefix(s[0])
		require.Equal(t, p.Masked(), p, "%s is no range", p)
		require.NotEmpty(t, a.refuses(p.Addr()), "the first of %s", p)
		require.NotEmpty(t, a.refuses(last(p)), "the last of %s", p)
	}
	for class, address := range map[string]string{
		"mapped loopback":   "::ffff:127.0.0.1",
		"mapped metadata":   "::ffff:169.254.169.254",
		"compatible":        "::7f00:1",
		"with a zone":       "fe80::1%eth0",
		"global, zone":      "2606:4700::1111%1",
		"metadata":          "169.254.169.254",
		"metadata of IPv6":  "fd00:ec2::254",
		"metadata, shared":  "100.100.100.200",
		"metadata, 192.0.0": "192.0.0.192",
		"broadcast":         "255.255.255.255",
		"NAT64 metadata":    "64:ff9b::a9fe:a9fe",
		"NAT64 loopback":    "64:ff9b:1::7f00:1",
		"6to4 loopback":     "2002:7f00:1::",
		"Teredo":            "2001:0:7f00:1::",
		"ORCHID":            "2001:20::1",
		"ISATAP, private":   "fe80::5efe:a00:1",
		"unassigned":        "4000::1",
		"dummy":             "100:0:0:1::1",
	} {
		require.NotEmpty(t, a.refuses(netip.MustParseAddr(address)), class)
	}
	for _, address := range []string{"1.1.1.1", "8.8.8.8", "::ffff:8.8.8.8", "2606:4700::1111", "2001:4860:4860::8888", "100.63.255.255",
		"100.128.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0", "198.17.255.255", "198.20.0.0", "223.255.255.255"} {
		require.Empty(t, a.refuses(netip.MustParseAddr(address)), address)
	}
	require.NotEmpty(t, a.refuses(netip.Addr{}))
}

func last(p netip.Prefix) netip.Addr {
	b := p.Addr().AsSlice()
	for i := p.Bits(); i < len(b)*8; i++ {
		b[i/8] |= 1 << (7 - i%8)
	}
	addr, _ := netip.AddrFromSlice(b)
	return addr
}

func TestThisMachinesOwnAddressesAreRefused(t *testing.T) {
	a := newAddresses(nil)
	a.own = func() ([]net.Addr, error) {
		return []net.Addr{&net.IPNet{IP: net.ParseIP("1.2.3.4"), Mask: net.CIDRMask(24, 32)},
			&net.IPNet{IP: net.ParseIP("2606:4700::1"), Mask: net.CIDRMask(64, 128)}}, nil
	}
	require.NotEmpty(t, a.refuses(netip.MustParseAddr("1.2.3.4")))
	require.NotEmpty(t, a.refuses(netip.MustParseAddr("2606:4700::1")))
	require.Empty(t, a.refuses(netip.MustParseAddr("1.2.3.5")))
	a.own = func() ([]net.Addr, error) { return nil, errors.New("unknown") }
	require.NotEmpty(t, a.refuses(netip.MustParseAddr("1.2.3.5")))
}

// What the standard library calls special is, and a mapped address is its IPv4
// address, whatever is allowed.
func TestAddressesAreJudgedAsWhatIsConnectedTo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b [4]byte
		for i := range b {
			b[i] = rapid.Byte().Draw(t, "byte")
		}
		addr := netip.AddrFrom4(b)
		a := newAddresses(nil)
		if addr.IsPrivate() || addr.IsLoopback() || addr.IsLinkLocalUnicast() || !addr.IsGlobalUnicast() {
			require.NotEmpty(t, a.refuses(addr))
		}
		mapped := netip.AddrFrom16(addr.As16())
		require.Equal(t, a.refuses(addr), a.refuses(mapped))
		a = newAddresses([]netip.Prefix{netip.PrefixFrom(addr, 32)})
		require.Empty(t, a.refuses(mapped))
	})
}

func TestNames(t *testing.T) {
	for name, want := range map[string]bool{
		"example.org": true, "localhost": true, "a-b.xn--c1a": true, "1.example.org": true, "0a.b": true,
		"": false, "Example.org": false, "example.org.": false, ".example.org": false, "a..b": false, "-a.b": false, "a-.b": false,
		"1.2.3.4": false, "2130706433": false, "0x7f000001": false, "127.0x1": false, "::1": false, "a b": false, "a_b": false,
		"a.b:80": false, "a@b": false, "é.org": false, "a%2eb": false,
	} {
		require.Equal(t, want, isName(name), name)
	}
}

func TestHeaders(t *testing.T) {
	for _, name := range []string{"Host", "Connection", "Proxy-Authorization", "proxy-connection", "Upgrade", "HTTP2-Settings", "TE", "Trailer",
		"Transfer-Encoding", "transfer_encoding", "Keep-Alive", "Cookie", "COOKIE", "Authorization", "Content-Length", "Expect",
		"X-Forwarded-For", "X_Forwarded_Host", "Forwarded", "X-Private"} {
		out := outgoing(map[string][]string{name: {"x"}, "connection": {"close, x-private"}, "Accept": {"a", "b"}, "accept": {"c"}})
		require.Len(t, out, 1, name)
		require.ElementsMatch(t, []string{"a", "b", "c"}, out["Accept"])
	}
	for _, name := range []string{"Set-Cookie", "set-cookie2", "Connection", "Keep-Alive", "Proxy-Authenticate", "Trailer", "Transfer-Encoding",
		"Upgrade", "Alt-Svc", "X-Private"} {
		require.Equal(t, 1, len(incoming(map[string][]string{name: {"x"}, "Connection": {"X-Private"}, "Content-Type": {"a"}})), name)
	}
}
