package spoke

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/memory"
)

// hostClient is a process's way to its host side: one call, then its one reply.
// When the channel ends, so does the spoke: its host side closed it or is gone.
type hostClient struct {
	rw      io.ReadWriteCloser
	replies chan hostReply
	ended   chan struct{} // closed when nothing more will come

	mu     sync.Mutex // held over a whole call
	broken bool       // the channel's end was seen
	left   bool       // a call was left before its reply came, which is still to come
}

var errHostGone = errors.New("spoke: the host side is gone")

func newHostClient(rw io.ReadWriteCloser, cancel context.CancelCauseFunc) *hostClient {
	c := &hostClient{rw: rw, replies: make(chan hostReply, 1), ended: make(chan struct{})}
	go c.read(cancel)
	return c
}

func (c *hostClient) read(cancel context.CancelCauseFunc) {
	defer close(c.ended)
	defer cancel(errClosed)
	for {
		var reply hostReply
		if readFrame(c.rw, &reply) != nil {
			return
		}
		select {
		case c.replies <- reply:
		default:
			return // two replies to one call
		}
	}
}

// close ends the channel and waits for its reader.
func (c *hostClient) close() {
	_ = c.rw.Close()
	<-c.ended
}

func (c *hostClient) call(ctx context.Context, call hostCall) (hostReply, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken {
		return hostReply{}, errHostGone
	}
	if c.left { // its reply is no other's
		if _, err := c.reply(ctx); err != nil {
			return hostReply{}, err
		}
	}
	if err := writeFrame(c.rw, call); err != nil {
		c.broken = !errors.Is(err, errFrameSize)
		return hostReply{}, err
	}
	return c.reply(ctx)
}

// reply waits for the one that is due. The caller holds the lock.
func (c *hostClient) reply(ctx context.Context) (hostReply, error) {
	c.left = true
	select {
	case reply := <-c.replies:
		c.left = false
		return reply, nil
	case <-ctx.Done():
		return hostReply{}, context.Cause(ctx)
	case <-c.ended:
		c.broken = true
		return hostReply{}, errHostGone
	}
}

var errHost = errors.New("spoke: the host side failed")

// Append, Records and Forget make the client the memory of its one scope, which
// the host side knows.
func (c *hostClient) Append(ctx context.Context, _ memory.Scope, r memory.Record) error {
	record := toWireRecord(r)
	_, err := c.remember(ctx, hostCall{Append: &record})
	return err
}

func (c *hostClient) Records(ctx context.Context, _ memory.Scope, q memory.Query) ([]memory.Record, error) {
	query := wireQuery{Kind: q.Kind, Key: q.Key, Last: q.Last}
	reply, err := c.remember(ctx, hostCall{Records: &query})
	if err != nil {
		return nil, err
	}
	var out []memory.Record
	for _, r := range reply.Records {
		out = append(out, r.record())
	}
	return out, nil
}

func (c *hostClient) Forget(ctx context.Context, _ memory.Scope, q memory.Query) (int, error) {
	query := wireQuery{Kind: q.Kind, Key: q.Key, Last: q.Last}
	reply, err := c.remember(ctx, hostCall{Forget: &query})
	return reply.Forgotten, err
}

func (c *hostClient) remember(ctx context.Context, call hostCall) (hostReply, error) {
	reply, err := c.call(ctx, call)
	if err == nil && reply.Error != nil {
		err = errHost
	}
	return reply, err
}

// Fetch makes the client the way to remote hosts, of which its host side decides.
func (c *hostClient) Fetch(ctx context.Context, r HTTPRequest) (HTTPResponse, error) {
	if !r.isText() {
		return HTTPResponse{}, ErrRefused // JSON would change it
	}
	reply, err := c.call(ctx, hostCall{Fetch: &r})
	switch {
	case errors.Is(err, errFrameSize):
		return HTTPResponse{}, ErrRefused
	case err != nil:
		return HTTPResponse{}, err
	case reply.Error != nil && reply.Error.Refused:
		return HTTPResponse{}, ErrRefused
	case reply.Error != nil || reply.Fetched == nil:
		return HTTPResponse{}, ErrFetch
	default:
		return *reply.Fetched, nil
	}
}

// model is the spoke's model as its process reaches it.
func (a agreed) model(c *hostClient) llm.LLM {
	return clientModel{client: c, capabilities: llm.Capabilities{Tools: a.tools, Schema: a.schema}}
}

type clientModel struct {
	client       *hostClient
	capabilities llm.Capabilities
}

func (m clientModel) Capabilities() llm.Capabilities { return m.capabilities }

func (m clientModel) Generate(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	reply, err := m.client.call(ctx, hostCall{Generate: toWireRequest(req)})
	switch {
	case err != nil:
		return nil, err
	case reply.Error != nil:
		e := reply.Error
		return nil, &llm.Error{Kind: e.Kind, Status: e.Status, RetryAfter: e.RetryAfter}
	case reply.Response == nil:
		return nil, &llm.Error{Kind: llm.Malformed}
	default:
		return reply.Response.response(), nil
	}
}
