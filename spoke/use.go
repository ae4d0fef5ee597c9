package spoke

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/isolategpt/isolategpt/isc"
)

// use is one use of another app's functionality, and what came of it.
type use struct {
	name isc.FunctionalityName
	body json.RawMessage

	offer    isc.Offer
	response *isc.Format
	out      json.RawMessage
	err      error
}

// Use is a batch of one.
func (c *conversation) Use(ctx context.Context, name isc.FunctionalityName, body json.RawMessage) (json.RawMessage, error) {
	u := &use{name: name, body: body}
	c.useAll(ctx, []*use{u})
	return u.out, u.err
}

// useAll probes for each, checks each body against what was offered, and
// requests together what passed, so that the hub can serve it side by side.
// What becomes of one is in it; once the connection is broken, in all.
//
// Source: paper §IV-C4, steps 1 to 6.
func (c *conversation) useAll(ctx context.Context, uses []*use) {
	var offered []*use
	for _, u := range uses {
		if u.err = c.begin(ctx); u.err != nil {
			continue
		}
		if u.err = c.probe(ctx, u); u.err == nil {
			offered = append(offered, u)
		}
		c.mu.Unlock()
	}
	if len(offered) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	bodies, err := c.request(ctx, offered)
	for i, u := range offered {
		if u.err = err; err == nil {
			u.out, u.err = received(bodies[i], u.response)
		}
	}
}

func (c *conversation) probe(ctx context.Context, u *use) error {
	reply, err := c.exchange(ctx, isc.Probe{Functionality: u.name})
	if err != nil {
		return err
	}
	offer, ok := reply.(isc.Offer)
	if !ok {
		return c.unexpected(fmt.Sprintf("a %T in reply to a probe", reply))
	}
	request, err := c.operator.formats.parse(offer.Request)
	if err != nil {
		return c.unexpected("an offer with a bad request format")
	}
	u.response, err = c.operator.formats.parse(offer.Response)
	if err != nil {
		return c.unexpected("an offer with a bad response format")
	}
	u.offer = offer
	if u.body, err = request.Check(u.body); err != nil {
		return fmt.Errorf("spoke: use %s: request: %w", u.name, err)
	}
	return nil
}

// request gives as many bodies as it was given uses.
func (c *conversation) request(ctx context.Context, offered []*use) ([]json.RawMessage, error) {
	calls := make([]isc.Call, len(offered))
	for i, u := range offered {
		calls[i] = isc.Call{Handle: u.offer.Handle, Body: u.body}
	}
	reply, err := c.exchange(ctx, isc.Request{Calls: calls})
	if err != nil {
		return nil, err
	}
	r, ok := reply.(isc.Response)
	if !ok {
		return nil, c.unexpected(fmt.Sprintf("a %T in reply to a request", reply))
	}
	if len(r.Bodies) != len(calls) {
		return nil, c.unexpected(fmt.Sprintf("%d bodies in reply to %d calls", len(r.Bodies), len(calls)))
	}
	return r.Bodies, nil
}

// received checks what came back. The hub checked it against the same format,
// so a misfit is never the callee's doing; to the app it is one more reason
// that it will not be.
func received(body json.RawMessage, response *isc.Format) (json.RawMessage, error) {
	if isNull(body) {
		return nil, ErrRefused
	}
	canonical, err := response.Check(body)
	if err != nil {
		return nil, ErrRefused
	}
	return canonical, nil
}

func isNull(body json.RawMessage) bool { return len(body) == 0 || string(body) == "null" }
