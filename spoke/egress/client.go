package egress

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/isolategpt/isolategpt/spoke"
)

// maxHeader bounds the header of an answer, in bytes.
const maxHeader = 32 << 10

// Config is what a [Client] needs. The zero value reaches every public host over
// https, with no credential.
type Config struct {
	// Hosts says what is particular about a host, by its exact name.
	Hosts map[string]Host
	// Allow are exceptions from the refused addresses, as for an intranet. Any
	// name may resolve to them.
	Allow []netip.Prefix
	// Timeout bounds one request from its name's resolution to the last byte of
	// its answer; default 30 seconds.
	Timeout time.Duration
	// Resolver resolves names; nil: the system's.
	Resolver *net.Resolver
	// RootCAs are who may sign certificates; nil: the system's.
	RootCAs *x509.CertPool
}

// Host is what is particular about one host.
type Host struct {
	// Credentials gives fields that are added to each request last, in place of
	// the spoke's own. It may be called by several goroutines at once. They are
	// sent to this host alone, and over https alone.
	Credentials func(context.Context) (http.Header, error)
	// Port is where the host is reached; 0: at its scheme's port. A request names
	// none either way.
	Port uint16
	// Plain lets the host be reached over http, readable on the way.
	Plain bool
	// PlainCredentials sends the credentials over http, too.
	PlainCredentials bool
}

// Client performs requests of spokes. It may be used by several goroutines at
// once.
type Client struct {
	hosts     map[string]Host
	timeout   time.Duration
	dialer    *dialer
	transport *http.Transport
}

var _ spoke.Fetcher = (*Client)(nil)

// New makes a client. Close it after its last use.
func New(cfg Config) (*Client, error) {
	for name := range cfg.Hosts {
		if !isName(name) {
			return nil, fmt.Errorf("egress: host %q: must be a plain name in lower-case ASCII: no port, wildcard or address", name)
		}
	}
	d, err := newDialer(cfg.Allow, cfg.Resolver)
	if err != nil {
		return nil, err
	}
	c := &Client{hosts: maps.Clone(cfg.Hosts), timeout: cmp.Or(max(cfg.Timeout, 0), 30*time.Second), dialer: d}
	c.transport = newTransport(c.dial, cfg.RootCAs)
	return c, nil
}

// newTransport speaks HTTP/1.1 over connections that dial makes, and knows
// neither proxies of the environment nor compression, which would be a body
// larger than what was counted.
func newTransport(dial func(context.Context, string, string) (net.Conn, error), roots *x509.CertPool) *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Transport{
		DialContext:            dial,
		TLSClientConfig:        &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    dialTimeout,
		MaxResponseHeaderBytes: maxHeader,
		DisableCompression:     true,
		Protocols:              protocols,
		MaxIdleConns:           64,
		MaxIdleConnsPerHost:    4,
		MaxConnsPerHost:        16,
		IdleConnTimeout:        time.Minute,
	}
}

// dial is for the transport, which names the scheme's port.
func (c *Client) dial(ctx context.Context, _, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	own := uint16(443)
	if port == "80" {
		own = 80
	}
	return c.dialer.dial(ctx, host, cmp.Or(c.hosts[host].Port, own))
}

// Close closes the connections that no request uses.
func (c *Client) Close() error {
	c.transport.CloseIdleConnections()
	return nil
}

// Fetch performs one request. What may not be sent is a [*RefusedError]. An
// answer over the bounds (32 KiB of header, [spoke.MaxResponseBody]), one that repeats a
// credential, and whatever else goes wrong is another error.
func (c *Client) Fetch(ctx context.Context, r spoke.HTTPRequest) (spoke.HTTPResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	req, err := c.request(ctx, r)
	if err != nil {
		return spoke.HTTPResponse{}, err
	}
	host := req.URL.Hostname()
	added, err := c.addCredentials(req)
	if err != nil {
		return spoke.HTTPResponse{}, fmt.Errorf("egress: host %q: credentials: %w", host, err)
	}
	// The transport alone: no redirects, no cookies.
	res, err := c.transport.RoundTrip(req)
	if err != nil {
		return spoke.HTTPResponse{}, fmt.Errorf("egress: %s host %q: %w", req.Method, host, err)
	}
	defer func() { _ = res.Body.Close() }()
	out, err := read(res)
	if err == nil && repeats(out, added) {
		err = errors.New("the answer repeats a credential")
	}
	if err != nil {
		return spoke.HTTPResponse{}, fmt.Errorf("egress: %s host %q: %w", req.Method, host, err)
	}
	return out, nil
}

// request is r as it is sent, but for the credentials.
func (c *Client) request(ctx context.Context, r spoke.HTTPRequest) (*http.Request, error) {
	if !isWord(r.URL) {
		return nil, &RefusedError{Reason: "the URL is not in printable ASCII without spaces"}
	}
	u, err := url.Parse(r.URL)
	if err != nil || u.Opaque != "" || !isName(u.Host) {
		return nil, &RefusedError{Reason: "the URL names no host, or one with a port"}
	}
	host := u.Host
	switch {
	case u.Scheme != "https" && u.Scheme != "http":
		return nil, &RefusedError{Host: host, Reason: "neither https nor http"}
	case u.Scheme == "http" && !c.hosts[host].Plain:
		return nil, &RefusedError{Host: host, Reason: "http is not allowed for it"}
	case u.User != nil || u.Fragment != "":
		return nil, &RefusedError{Host: host, Reason: "the URL has a user or a fragment"}
	case r.Method == "" || strings.EqualFold(r.Method, http.MethodConnect) || strings.EqualFold(r.Method, http.MethodTrace):
		return nil, &RefusedError{Host: host, Reason: "the method"}
	case len(r.Body) > 0 && (strings.EqualFold(r.Method, http.MethodGet) || strings.EqualFold(r.Method, http.MethodHead)):
		return nil, &RefusedError{Host: host, Reason: "a body of " + r.Method}
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, u.String(), bytes.NewReader(r.Body))
	if err != nil {
		return nil, &RefusedError{Host: host, Reason: "no request"} // the cause repeats what a spoke wrote
	}
	req.Header = outgoing(r.Header)
	return req, nil
}

// read takes an answer in, within the bounds.
func read(res *http.Response) (spoke.HTTPResponse, error) {
	if res.StatusCode < 200 {
		return spoke.HTTPResponse{}, errors.New("no final answer")
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, spoke.MaxResponseBody+1))
	if err != nil {
		return spoke.HTTPResponse{}, fmt.Errorf("reading the answer: %w", err)
	}
	if len(body) > spoke.MaxResponseBody {
		return spoke.HTTPResponse{}, fmt.Errorf("the answer is longer than %d bytes", spoke.MaxResponseBody)
	}
	return spoke.HTTPResponse{Status: res.StatusCode, Header: incoming(res.Header), Body: body}, nil
}
