package hub

import (
	"context"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/permission"
)

// confirm decides on an act of the app's own that its agent wants to do in the
// course of a task. The reply is bound to the canonical bytes.
//
// Source: paper §IV-B5 step 5, App. A-D1.
func (c *conversation) confirm(ctx context.Context, m isc.Confirm) isc.ToSpoke {
	manifest, ok := c.run.registry().manifest(c.who.ID)
	if !ok {
		return c.drop(ctx, "confirm: a spoke without an app has nothing to confirm")
	}
	if !c.spends(1) {
		return c.drop(ctx, "confirm: more calls than the plan lets this task make")
	}
	f, ok := manifest.Find(m.Functionality)
	if !ok {
		return c.drop(ctx, "confirm: not a functionality of the app")
	}
	body, err := f.Request.Check(m.Body)
	if err != nil {
		return c.drop(ctx, "confirm: the body does not fit"+misfit(err))
	}
	if err := c.run.budget.call(); err != nil {
		c.broken = err
		return isc.Refused{}
	}
	if f.Effect == isc.Read {
		return isc.Confirmed{Digest: isc.DigestOf(body)} // what only reads needs no consent
	}
	label := c.said()
	q := permission.Question{
		Kind: permission.Change, From: c.who, To: c.who, Functionality: f.Name, Effect: f.Effect, Pin: manifest.Pin(f.Name),
		Payload: body, Label: label, Fields: c.run.fieldsOf(f.Request, body, label),
	}
	q.Closed, _ = f.Request.Closed()
	if f.Effect == isc.Irreversible {
		q.Kind = permission.Irreversible
	}
	if !c.run.admit(ctx, q).Allowed() {
		return isc.Refused{}
	}
	return isc.Confirmed{Digest: isc.DigestOf(body)}
}
