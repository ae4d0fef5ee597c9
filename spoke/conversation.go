package spoke

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/isolategpt/isolategpt/isc"
)

// What one task may send beside its calls and requests.
const (
	maxProgress      = 256   // messages a task
	maxProgressBytes = 1_000 // bytes of one message; longer ones are cut
)

// conversation is one task's way out: the [Hub] of its handlers, and what its
// agent acts through. It holds the half-duplex rule: one message up, then the
// one reply that is legal for it.
type conversation struct {
	operator *operator
	limits   Limits

	mu       sync.Mutex // held over a whole exchange
	calls    int
	progress int
	broken   error // the connection can no longer be trusted
	ended    bool
}

var _ Hub = (*conversation)(nil)

// end takes the way out away. It waits for an exchange that is under way.
func (c *conversation) end() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	return c.broken
}

// isBroken says whether the connection can no longer be trusted.
func (c *conversation) isBroken() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.broken != nil
}

// begin counts one call of the task and takes the lock, or says why not.
func (c *conversation) begin(ctx context.Context) error {
	c.mu.Lock()
	err := c.usable(ctx)
	if err == nil && c.calls >= c.limits.MaxCalls {
		err = fmt.Errorf("%w: %d calls", ErrBudget, c.limits.MaxCalls)
	}
	if err != nil {
		c.mu.Unlock()
		return err
	}
	c.calls++
	return nil
}

func (c *conversation) usable(ctx context.Context) error {
	switch {
	case c.broken != nil:
		return c.broken
	case c.ended:
		return ErrEnded
	default:
		return context.Cause(ctx)
	}
}

// exchange sends up and gives the one reply. The caller holds the lock.
func (c *conversation) exchange(ctx context.Context, up isc.ToHub) (isc.ToSpoke, error) {
	if err := c.usable(ctx); err != nil {
		return nil, err
	}
	if err := c.send(ctx, up); err != nil {
		return nil, err
	}
	reply, err := c.operator.conn.Recv(ctx)
	if err != nil {
		c.broken = fmt.Errorf("spoke: waiting for the reply to a %T: %w", up, err)
		return nil, c.broken
	}
	if _, refused := reply.(isc.Refused); refused {
		return nil, ErrRefused
	}
	return reply, nil
}

// send says one thing. What the protocol has no form for (a name that is none, a
// body over the limit) is the sender's mistake and breaks nothing.
func (c *conversation) send(ctx context.Context, up isc.ToHub) error {
	err := c.operator.conn.Send(ctx, up)
	if err == nil {
		return nil
	}
	err = fmt.Errorf("spoke: sending a %T: %w", up, err)
	if !isOurs(err) {
		c.broken = err
	}
	return err
}

// unexpected breaks the conversation: the hub's word is not legal here.
func (c *conversation) unexpected(what string) error {
	c.broken = fmt.Errorf("%w: %s", ErrProtocol, what)
	return c.broken
}

// Need gives what the hub gave, by name. All refused is none given.
//
// Source: paper §IV-B5, steps 2 to 4.
func (c *conversation) Need(ctx context.Context, fields ...isc.DataField) (map[string]json.RawMessage, error) {
	if err := c.begin(ctx); err != nil {
		return nil, err
	}
	defer c.mu.Unlock()
	out := map[string]json.RawMessage{}
	if len(fields) == 0 {
		return out, nil
	}
	reply, err := c.exchange(ctx, isc.NeedData{Fields: append([]isc.DataField(nil), fields...)})
	if err == ErrRefused {
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	data, ok := reply.(isc.Data)
	if !ok {
		return nil, c.unexpected(fmt.Sprintf("a %T in reply to a need of data", reply))
	}
	asked := make(map[string]bool, len(fields))
	for _, f := range fields {
		asked[f.Name] = true
	}
	for _, v := range data.Values {
		body, err := isc.Canonical(v.Body)
		if err != nil || !asked[v.Name] || out[v.Name] != nil {
			return nil, c.unexpected("data that was not asked for, twice, or not JSON")
		}
		out[v.Name] = body
	}
	return out, nil
}

// Confirm asks about an act of the app's own.
func (c *conversation) Confirm(ctx context.Context, name isc.FunctionalityName, body json.RawMessage) error {
	f, ok := c.operator.manifest.Find(name)
	if !ok {
		return fmt.Errorf("spoke: confirm: no functionality %q", name)
	}
	canonical, err := f.Request.Check(body)
	if err != nil {
		return fmt.Errorf("spoke: confirm %s: request: %w", name, err)
	}
	_, err = c.confirm(ctx, name, canonical)
	return err
}

// confirm gives the digest that was confirmed, which is that of canonical.
func (c *conversation) confirm(ctx context.Context, name isc.FunctionalityName, canonical json.RawMessage) (isc.Digest, error) {
	if err := c.begin(ctx); err != nil {
		return isc.Digest{}, err
	}
	defer c.mu.Unlock()
	digest := isc.DigestOf(canonical)
	reply, err := c.exchange(ctx, isc.Confirm{Functionality: name, Body: canonical})
	if err != nil {
		return isc.Digest{}, err
	}
	confirmed, ok := reply.(isc.Confirmed)
	if !ok {
		return isc.Digest{}, c.unexpected(fmt.Sprintf("a %T in reply to a confirm", reply))
	}
	if confirmed.Digest != digest {
		return isc.Digest{}, c.unexpected("the confirmation of another body")
	}
	return confirmed.Digest, nil
}

// Fetch asks the host side, which decides whether the request may be. The lock
// is held, so that a spoke has one request under way.
func (c *conversation) Fetch(ctx context.Context, r HTTPRequest) (HTTPResponse, error) {
	if err := c.begin(ctx); err != nil {
		return HTTPResponse{}, err
	}
	defer c.mu.Unlock()
	if c.operator.http == nil {
		return HTTPResponse{}, ErrRefused
	}
	return c.operator.http.Fetch(ctx, r)
}

// Progress sends one line.
func (c *conversation) Progress(ctx context.Context, text string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.usable(ctx); err != nil {
		return err
	}
	if c.progress >= maxProgress {
		return fmt.Errorf("%w: %d lines of progress", ErrBudget, maxProgress)
	}
	c.progress++
	if len(text) > maxProgressBytes {
		text = text[:maxProgressBytes]
	}
	text = strings.ToValidUTF8(text, "")
	return c.send(ctx, isc.Progress{Text: text})
}

// own runs a functionality of the app for its agent. Whatever changes something
// is confirmed first, and runs with exactly the bytes that were confirmed.
//
// Source: paper App. A-D1; design, rule 5.
func (c *conversation) own(ctx context.Context, f isc.Functionality, body json.RawMessage) (json.RawMessage, error) {
	canonical, tree, err := f.Request.CheckTree(body)
	if err != nil {
		return nil, fmt.Errorf("spoke: %s: request: %w", f.Name, err)
	}
	if f.Effect == isc.Read {
		if err := c.begin(ctx); err != nil {
			return nil, err
		}
		c.mu.Unlock()
		return c.handle(ctx, f, canonical, tree)
	}
	confirmed, err := c.confirm(ctx, f.Name, canonical)
	if err != nil {
		return nil, err
	}
	if isc.DigestOf(canonical) != confirmed {
		return nil, fmt.Errorf("%w: the body changed after it was confirmed", ErrRefused)
	}
	return c.handle(ctx, f, canonical, tree)
}

// handle runs the app's handler on its own copy of the body, and checks what it
// returns. A panic is an error. tree is canonical decoded, for this one run.
func (c *conversation) handle(ctx context.Context, f isc.Functionality, canonical json.RawMessage, tree any) (json.RawMessage, error) {
	h := &lease{Hub: c}
	defer h.end()
	call := Call{Functionality: f.Name, Body: append(json.RawMessage(nil), canonical...), Hub: h}
	body, err := contain(func() (json.RawMessage, error) {
		if a, ok := c.operator.app.(*app); ok {
			call.tree = tree
			return a.serve(ctx, call) // it has the very format that canonical passed
		}
		return c.operator.app.Handle(ctx, call)
	})
	return check(f.Response, body, err)
}
