package foreign

import (
	"net"
	"sync"
)

// connections are those that a proxy serves now, so that they can be ended. The
// zero value has none. It is safe for concurrent use.
type connections struct {
	mu   sync.Mutex
	open map[*connection]struct{}
}

// listener is l with what it accepts noted; l itself for nobody who wants that.
func (c *connections) listener(l net.Listener) net.Listener {
	if c == nil {
		return l
	}
	return notedListener{l, c}
}

// drop ends all of them.
func (c *connections) drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.open {
		_ = conn.Conn.Close()
	}
	clear(c.open)
}

type notedListener struct {
	net.Listener
	connections *connections
}

func (l notedListener) Accept() (net.Conn, error) {
	inner, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := l.connections
	conn := &connection{inner, c}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == nil {
		c.open = map[*connection]struct{}{}
	}
	c.open[conn] = struct{}{}
	return conn, nil
}

type connection struct {
	net.Conn
	connections *connections
}

// CloseWrite tells the program that no more will come.
func (c *connection) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Close()
}

// Close forgets it, too.
func (c *connection) Close() error {
	c.connections.mu.Lock()
	delete(c.connections.open, c)
	c.connections.mu.Unlock()
	return c.Conn.Close()
}
