package spoke

import (
	"sync"

	"github.com/isolategpt/isolategpt/isc"
)

// Bounds of what one spoke keeps of the formats that the hub sent it.
const (
	maxFormats     = 64
	maxFormatBytes = 1 << 20
)

// formatCache compiles each format that the hub sends once: the same few come
// with every task and offer. It is keyed by the exact bytes, so that a schema
// is never taken for another, and belongs to one spoke. What does not parse is
// not kept. The zero formatCache is empty, the nil one keeps nothing, and either
// may be used concurrently.
type formatCache struct {
	mu    sync.Mutex
	known map[string]*isc.Format
	bytes int
}

// parse is [isc.ParseFormat].
func (c *formatCache) parse(schema []byte) (*isc.Format, error) {
	if c == nil {
		return isc.ParseFormat(schema)
	}
	c.mu.Lock()
	f, ok := c.known[string(schema)]
	c.mu.Unlock()
	if ok {
		return f, nil
	}
	f, err := isc.ParseFormat(schema)
	if err == nil {
		c.keep(string(schema), f)
	}
	return f, err
}

func (c *formatCache) keep(schema string, f *isc.Format) {
	if len(schema) > maxFormatBytes/4 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known) >= maxFormats || c.bytes+len(schema) > maxFormatBytes {
		c.known, c.bytes = map[string]*isc.Format{}, 0
	}
	if _, there := c.known[schema]; !there {
		c.known[schema] = f
		c.bytes += len(schema)
	}
}
