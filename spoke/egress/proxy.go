package egress

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"time"
)

// ProxyConfig is what a [Proxy] needs. The zero value refuses every request.
// Fields of zero or less mean the defaults.
type ProxyConfig struct {
	// Authorize decides about each request, by the host's exact name in lower-case
	// ASCII; an address is refused without it. Nil, an error and a panic refuse.
	// It may block, as for a person's consent, and is called by several goroutines
	// at once.
	Authorize func(ctx context.Context, host string) error
	// AuthorizePlain decides instead about plain http, and about CONNECT to port 80,
	// which is no TLS either. Nil: Authorize does.
	AuthorizePlain func(ctx context.Context, host string) error
	// Ports are those that may be connected to; none: 443. Plain http is served on
	// each of them but 443, so not unless 80 or another is named.
	Ports []uint16
	// Allow are exceptions from the refused addresses.
	Allow []netip.Prefix
	// Resolver resolves names; nil: the system's.
	Resolver *net.Resolver
	// MaxConns is how many connections are served at once, default 64. Further
	// ones wait.
	MaxConns int
	// MaxBytes bounds what one connection moves, both ways together, default 64
	// MiB.
	MaxBytes int64
	// Idle ends a connection on which nothing moves, default a minute; Total ends
	// it whatever moves, default 10 minutes. Authorize counts for neither.
	Idle, Total time.Duration
}

// Proxy is an HTTP proxy for a foreign program, which has its own HTTP client:
// CONNECT for TLS, of which it sees host and port alone, and plain http. It
// serves one request a connection. It may be used by several goroutines at once.
//
// A program can put another name into its TLS and its requests than into its
// CONNECT. It reaches the address of the name that was authorized all the same,
// which for a host behind a shared front can be more than that host.
type Proxy struct {
	cfg       ProxyConfig
	dialer    *dialer
	transport *http.Transport
	slots     chan struct{}
	closing   chan struct{}

	mu      sync.Mutex
	closed  bool
	serving sync.WaitGroup
}

// ErrProxyClosed is what [Proxy.Serve] gives after [Proxy.Close].
var ErrProxyClosed = errors.New("egress: the proxy is closed")

// NewProxy makes a proxy. Close it after its last use.
func NewProxy(cfg ProxyConfig) (*Proxy, error) {
	d, err := newDialer(cfg.Allow, cfg.Resolver)
	if err != nil {
		return nil, err
	}
	cfg.Ports = slices.Clone(cfg.Ports)
	if len(cfg.Ports) == 0 {
		cfg.Ports = []uint16{443}
	}
	if slices.Contains(cfg.Ports, 0) {
		return nil, errors.New("egress: proxy: port 0 is none")
	}
	cfg.MaxConns = cmp.Or(max(cfg.MaxConns, 0), 64)
	cfg.MaxBytes = cmp.Or(max(cfg.MaxBytes, 0), 64<<20)
	cfg.Idle = cmp.Or(max(cfg.Idle, 0), time.Minute)
	cfg.Total = cmp.Or(max(cfg.Total, 0), 10*time.Minute)
	p := &Proxy{cfg: cfg, dialer: d, slots: make(chan struct{}, cfg.MaxConns), closing: make(chan struct{})}
	p.transport = newTransport(p.dialPlain, nil)
	p.transport.DisableKeepAlives = true
	return p, nil
}

func (p *Proxy) dialPlain(ctx context.Context, _, address string) (net.Conn, error) {
	host, number, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	port, err := strconv.ParseUint(number, 10, 16)
	if err != nil {
		return nil, err
	}
	return p.dialer.dial(ctx, host, uint16(port))
}

// Serve serves connections until ctx ends, the listener fails or the proxy is
// closed, closes the listener, and returns after its connections have ended.
func (p *Proxy) Serve(ctx context.Context, l net.Listener) error {
	defer func() { _ = l.Close() }()
	if !p.begin() {
		return ErrProxyClosed
	}
	defer p.serving.Done()
	ctx, cancel := context.WithCancelCause(ctx)
	var own sync.WaitGroup
	defer own.Wait()
	defer cancel(ErrProxyClosed)
	own.Go(func() {
		select {
		case <-p.closing:
			cancel(ErrProxyClosed)
		case <-ctx.Done():
		}
		_ = l.Close()
	})
	for {
		select {
		case p.slots <- struct{}{}:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		conn, err := l.Accept()
		if err != nil {
			<-p.slots
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return fmt.Errorf("egress: proxy: %w", err)
		}
		own.Go(func() {
			defer func() { <-p.slots }()
			p.serve(ctx, conn)
		})
	}
}

// begin counts one Serve, unless the proxy is closed.
func (p *Proxy) begin() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.serving.Add(1)
	}
	return !p.closed
}

// Close ends every Serve and its connections, and waits for them.
func (p *Proxy) Close() error {
	p.mu.Lock()
	if !p.closed {
		p.closed = true
		close(p.closing)
	}
	p.mu.Unlock()
	p.serving.Wait()
	p.transport.CloseIdleConnections()
	return nil
}
