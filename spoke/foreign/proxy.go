package foreign

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/isolategpt/isolategpt/spoke"
	"github.com/isolategpt/isolategpt/spoke/egress"
)

// proxyPort is where a program finds its proxy, on the loopback of a network
// namespace in which nothing else is.
const proxyPort = 3128

// roots are where systems keep the certificates of public authorities.
var roots = []string{
	"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem",
}

// proxyEnv tells HTTP clients of the proxy.
func proxyEnv() []string {
	url := "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(proxyPort))
	return []string{"HTTP_PROXY=" + url, "HTTPS_PROXY=" + url, "http_proxy=" + url, "https_proxy=" + url, "NODE_USE_ENV_PROXY=1"}
}

// proxy serves one program's listener.
type proxy struct {
	proxy  *egress.Proxy
	cancel context.CancelFunc
	done   chan struct{}
}

// serveProxy takes over the listener.
func serveProxy(cfg Config, l net.Listener) (*proxy, error) {
	settings := cfg.Proxy
	settings.Authorize, settings.AuthorizePlain = cfg.authorize, cfg.authorizePlain
	served, err := egress.NewProxy(settings)
	if err != nil {
		_ = l.Close()
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	p := &proxy{proxy: served, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		_ = served.Serve(ctx, cfg.tasks.listener(l)) // it ends with the program
	}()
	return p, nil
}

// authorize decides about one connection to a host.
func (c Config) authorize(ctx context.Context, host string) error { return c.decide(ctx, host, host) }

// authorizePlain is authorize for one without TLS.
func (c Config) authorizePlain(ctx context.Context, host string) error {
	if c.tasks != nil {
		return c.decide(ctx, host, "http://"+host)
	}
	return c.decide(ctx, host, host)
}

func (c Config) decide(ctx context.Context, host, asked string) error {
	err := spoke.ErrRefused
	if slices.Contains(c.Hosts, host) && c.Authorize != nil {
		err = c.Authorize(ctx, asked)
	}
	if err != nil {
		c.Logger.Warn("host refused", "app", string(c.App), "host", host)
	}
	return err
}

// stop ends the proxy and does not wait. A nil proxy is none.
func (p *proxy) stop() {
	if p != nil {
		p.cancel()
	}
}

// close ends the proxy and waits, at most for the grace.
func (p *proxy) close(grace time.Duration) error {
	if p == nil {
		return nil
	}
	p.cancel()
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.done:
		return p.proxy.Close()
	case <-timer.C:
		return fmt.Errorf("%w: the proxy: Authorize ignores its context", spoke.ErrStuck)
	}
}
