package egress

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/isolategpt/isolategpt/spoke"
)

const headTimeout = 10 * time.Second

// inbound is one connection to a proxy, and its one request.
type inbound struct {
	proxy   *Proxy
	conn    net.Conn
	session *session
	head    *io.LimitedReader
	in      *bufio.Reader // of head
}

// serve answers one connection. The program learns a status and no reason.
func (p *Proxy) serve(ctx context.Context, conn net.Conn) {
	ctx, cancel := context.WithCancel(ctx)
	s := newSession(cancel, p.cfg)
	defer s.end()
	closed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { _ = conn.Close(); close(closed) })
	defer func() {
		if stop() {
			_ = conn.Close()
			return
		}
		<-closed
	}()
	c := &inbound{proxy: p, conn: conn, session: s, head: &io.LimitedReader{R: s.reader(conn), N: maxHeader}}
	c.in = bufio.NewReader(c.head)
	if status := c.answer(ctx); status != 0 && conn.SetWriteDeadline(time.Now().Add(headTimeout)) == nil {
		_, _ = fmt.Fprintf(conn, "HTTP/1.1 %d %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", status, http.StatusText(status))
	}
}

// answer gives a status that is still to be said, or 0.
func (c *inbound) answer(ctx context.Context) int {
	if c.conn.SetReadDeadline(time.Now().Add(headTimeout)) != nil {
		return http.StatusInternalServerError
	}
	req, err := http.ReadRequest(c.in)
	if err != nil || c.conn.SetReadDeadline(time.Time{}) != nil {
		return http.StatusBadRequest
	}
	c.head.N = c.proxy.cfg.MaxBytes // from here on the session counts alone
	host, port, err := target(req)
	if err == nil {
		err = c.authorize(ctx, host, port, req.Method == http.MethodConnect && port != 80)
	}
	if err != nil {
		return http.StatusForbidden
	}
	total := time.AfterFunc(c.proxy.cfg.Total, c.session.cancel)
	defer total.Stop()
	if req.Method == http.MethodConnect {
		return c.tunnel(ctx, host, port)
	}
	return c.plain(ctx, req, net.JoinHostPort(host, strconv.Itoa(int(port))))
}

// target is where a request wants to go.
func target(req *http.Request) (host string, port uint16, err error) {
	if !isWord(req.RequestURI) {
		return "", 0, errors.New("no plain address")
	}
	if req.Method == http.MethodConnect {
		host, number, err := net.SplitHostPort(req.RequestURI)
		if err != nil {
			return "", 0, err
		}
		n, err := strconv.ParseUint(number, 10, 16)
		return host, uint16(n), err
	}
	u := req.URL
	n, err := strconv.ParseUint(cmp.Or(u.Port(), "80"), 10, 16)
	bare := strings.EqualFold(req.Method, http.MethodGet) || strings.EqualFold(req.Method, http.MethodHead)
	if err != nil || u.Scheme != "http" || u.User != nil || req.Method == http.MethodTrace || n == 443 || bare && req.ContentLength != 0 {
		return "", 0, errors.New("no plain request")
	}
	return u.Hostname(), uint16(n), nil
}

// authorize asks about the host, however long that takes.
func (c *inbound) authorize(ctx context.Context, host string, port uint16, secure bool) (err error) {
	cfg := c.proxy.cfg
	authorize := cfg.Authorize
	if !secure && cfg.AuthorizePlain != nil {
		authorize = cfg.AuthorizePlain
	}
	if !isName(host) || !slices.Contains(cfg.Ports, port) || authorize == nil {
		return spoke.ErrRefused
	}
	defer func() {
		if recover() != nil {
			err = spoke.ErrRefused
		}
	}()
	c.session.idle.Stop()
	err = authorize(ctx, host)
	c.session.idle.Reset(c.session.span)
	return err
}

// tunnel connects and moves bytes both ways until both have ended.
func (c *inbound) tunnel(ctx context.Context, host string, port uint16) int {
	remote, err := c.proxy.dialer.dial(ctx, host, port)
	if err != nil {
		return statusOf(err)
	}
	defer func() { _ = remote.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = remote.Close() })
	defer stop()
	if _, err := io.WriteString(c.conn, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return 0
	}
	var up sync.WaitGroup
	up.Go(func() { pass(remote, c.in) })
	pass(c.conn, c.session.reader(remote))
	up.Wait()
	return 0
}

// plain sends a request on and its answer back.
func (c *inbound) plain(ctx context.Context, req *http.Request, address string) int {
	if req.Header.Get("Expect") != "" {
		if _, err := io.WriteString(c.conn, "HTTP/1.1 100 Continue\r\n\r\n"); err != nil {
			return 0
		}
	}
	out := req.Clone(ctx)
	out.RequestURI, out.Host, out.URL.Host = "", "", address
	out.Header, out.Trailer = outgoing(req.Header), nil
	res, err := c.proxy.transport.RoundTrip(out)
	if err != nil {
		return statusOf(err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode < 200 {
		return http.StatusBadGateway
	}
	res.Header, res.Trailer = incoming(res.Header), nil
	res.Body = struct {
		io.Reader
		io.Closer
	}{c.session.reader(res.Body), res.Body}
	res.Close = true
	_ = res.Write(c.conn)
	return 0
}

// statusOf is what a program learns of a connection that was not made.
func statusOf(err error) int {
	if errors.Is(err, spoke.ErrRefused) {
		return http.StatusForbidden
	}
	return http.StatusBadGateway
}
