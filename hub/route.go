package hub

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/permission"
	"github.com/isolategpt/isolategpt/planner"
)

// offerUses is how often one handle may be used.
const offerUses = 32

// offer is what a handle stands for: this spoke, this task, this functionality,
// these formats. It ends with the conversation that it was made in.
type offer struct {
	entry planner.Entry
	// provider is set where the person was asked about this app already.
	provider isc.AppID
	uses     int
}

// probe answers whether a functionality can be asked for (paper §IV-C4, steps 1
// and 2). An offer does not say that anyone serves it: what the embedding
// program lists as known is offered whether installed or not. What is known
// only because some app is installed is offered only with consent, since the
// offer would tell.
func (c *conversation) probe(ctx context.Context, m isc.Probe) isc.ToSpoke {
	if err := m.Functionality.Validate(); err != nil {
		return c.drop(ctx, "probe: no valid name")
	}
	o := &offer{uses: offerUses}
	var planned bool
	o.entry, planned = c.plannedEntry(m.Functionality)
	if !planned && !c.declared(m.Functionality) {
		return c.drop(ctx, "probe: the app's manifest does not want this functionality")
	}
	if !planned {
		var known bool
		if o.entry, known = c.run.registry().entryFor(m.Functionality); !known {
			return isc.Refused{}
		}
		if !c.run.registry().isPublic(m.Functionality) && !c.mayKnow(ctx, o) {
			return isc.Refused{}
		}
	}
	if c.offers == nil {
		c.offers = map[isc.Handle]*offer{}
	}
	if len(c.offers) >= maxOffers {
		return c.drop(ctx, "probe: too many offers in one task")
	}
	h := isc.NewHandle()
	c.offers[h] = o
	return isc.Offer{Handle: h, Request: o.entry.Request.Bare(), Response: o.entry.Response.Bare()}
}

// maxOffers bounds the offers of one task.
const maxOffers = 64

// mayKnow asks before an offer would tell that some app is installed.
func (c *conversation) mayKnow(ctx context.Context, o *offer) bool {
	var err error
	if o.provider, err = c.run.choose(ctx, o.entry, "", c.seeker(o.entry)); err != nil {
		return false
	}
	q := c.run.callQuestion(o.entry, o.provider, json.RawMessage(`{}`), isc.HubLabel())
	q.Kind, q.From, q.Closed, q.Probe, q.Effect = permission.Collaborate, c.who, true, true, isc.Read
	return c.run.admit(ctx, q).Allowed()
}

func (c *conversation) seeker(e planner.Entry) seeker {
	return seeker{who: c.who, planned: c.may[e.Name], stack: c.stack}
}

// declared says whether the app's own manifest names the functionality as one
// that it may want. A vanilla spoke has no manifest and wants what the plan
// says.
func (c *conversation) declared(name isc.FunctionalityName) bool {
	m, ok := c.run.registry().manifest(c.who.ID)
	return ok && slices.Contains(m.Wants, name)
}

// plannedEntry is the entry that the plan lets this task ask for under name.
func (c *conversation) plannedEntry(name isc.FunctionalityName) (planner.Entry, bool) {
	for _, e := range slices.Sorted(maps.Keys(c.may)) {
		if entry, ok := c.run.registry().catalogue.Entry(e); ok && entry.Functionality == name {
			return entry, true
		}
	}
	return planner.Entry{}, false
}

// route serves a batch of requests side by side (steps 3 to 6). Calls that were
// denied, that failed and that nobody serves are null; if all are, the reply is
// the one refusal.
func (c *conversation) route(ctx context.Context, m isc.Request) isc.ToSpoke {
	if len(m.Calls) == 0 {
		return c.drop(ctx, "request: no call in it")
	}
	if !c.spends(len(m.Calls)) {
		return c.drop(ctx, "request: more calls than the plan lets this task make")
	}
	used := make([]*offer, len(m.Calls))
	for i, call := range m.Calls {
		o := c.offers[call.Handle]
		if o == nil || o.uses == 0 {
			return c.drop(ctx, "request: a handle that was not offered to this task")
		}
		o.uses--
		used[i] = o
	}
	bodies := make([]json.RawMessage, len(m.Calls))
	labels := make([]isc.Label, len(m.Calls))
	var all sync.WaitGroup
	for i, call := range m.Calls {
		all.Go(func() {
			var err error
			defer contain("request", &err) // what panicked was not served
			bodies[i], labels[i] = c.serve(ctx, used[i], call.Body)
		})
	}
	all.Wait()
	served := false
	for i, b := range bodies {
		if b == nil {
			bodies[i] = json.RawMessage("null")
			continue
		}
		served = true
		c.take(ctx, labels[i])
	}
	if !served {
		return isc.Refused{}
	}
	return isc.Response{Bodies: bodies}
}

// serve brings one request to another app and its answer back. It returns nil
// for every reason that it will not be.
func (c *conversation) serve(ctx context.Context, o *offer, raw json.RawMessage) (json.RawMessage, isc.Label) {
	entry := o.entry
	refused := func(to isc.AppID, status isc.Status) (json.RawMessage, isc.Label) {
		c.run.emit(ctx, Collaborated{From: c.who.ID, To: to, Functionality: entry.Functionality, Status: status})
		return nil, isc.Label{}
	}
	body, err := entry.Request.Check(raw)
	if err != nil {
		c.run.emit(ctx, Dropped{App: c.who.ID, Reason: "request: the body does not fit" + misfit(err)})
		return refused("", isc.StatusFailed)
	}
	if len(c.stack) > c.run.limits.Depth {
		c.run.emit(ctx, Dropped{App: c.who.ID, Reason: fmt.Sprintf("request: more than %d apps deep", c.run.limits.Depth)})
		return refused("", isc.StatusRefused)
	}
	provider := o.provider
	if provider == "" {
		if provider, err = c.run.choose(ctx, entry, "", c.seeker(entry)); err != nil {
			return refused("", isc.StatusRefused)
		}
	}
	label := c.said()
	q := c.run.callQuestion(entry, provider, body, label)
	q.From = c.who
	q.Fields = c.run.fieldsOf(entry.Request, body, label)
	if q.Kind != permission.Irreversible {
		q.Kind = permission.Collaborate
	}
	if c.may[entry.Name] {
		q.Plan = permission.InPlan
	}
	if !c.run.admit(ctx, q).Allowed() {
		return refused(provider, isc.StatusRefused)
	}
	got, err := c.run.call(ctx, callee{entry: entry, provider: provider, body: body, label: label, stack: c.stack, planned: c.may[entry.Name]})
	if err != nil {
		return refused(provider, statusOf(err))
	}
	if !c.deliver(ctx, entry, provider, got) {
		return refused(provider, isc.StatusRefused)
	}
	c.run.emit(ctx, Collaborated{From: c.who.ID, To: provider, Functionality: entry.Functionality, Status: isc.StatusDone})
	return got.json, got.label
}

// said is the label of whatever the spoke says: its own word, made of all that
// it was given in this task, and private if it was ever given private data.
func (c *conversation) said() isc.Label {
	c.mu.Lock()
	given := c.given
	c.mu.Unlock()
	if c.who.ID == isc.Vanilla {
		return given.From(isc.SourceModel)
	}
	l := isc.AppLabel(c.who.ID).Join(given)
	if c.run.session.seen(c.who.ID).IsSensitive() {
		l = l.Sensitive()
	}
	return l
}

// take notes that the spoke is given more, before it is: whatever becomes of
// this conversation, its app has it from now on.
func (c *conversation) take(ctx context.Context, l isc.Label) {
	c.mu.Lock()
	c.given = c.given.Join(l)
	given := c.given
	c.mu.Unlock()
	if c.who.ID == isc.Vanilla {
		return
	}
	if !c.run.private {
		if err := c.run.session.keepGiven(ctx, c.who.ID, given); err != nil && c.broken == nil {
			c.broken = err
		}
	}
	c.run.session.note(c.who.ID, given)
}

// deliver asks whether an answer may enter the asking app's context (step 5).
func (c *conversation) deliver(ctx context.Context, entry planner.Entry, provider isc.AppID, got labelled) bool {
	q := permission.Question{
		Kind: permission.Deliver, From: c.run.party(provider), To: c.who, Functionality: entry.Functionality, Effect: isc.Read,
		Pin: c.run.registry().pin(provider, entry.Functionality), Payload: got.json, Label: got.label, Closed: !got.free,
		Fields: c.run.fieldsOf(entry.Response, got.json, got.label),
	}
	if c.may[entry.Name] {
		q.Plan = permission.InPlan
	}
	return c.run.admit(ctx, q).Allowed()
}
