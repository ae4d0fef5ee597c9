package hub

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/permission"
)

var (
	// errNotSent says that a request was not let out, whatever the reason.
	errNotSent = errors.New("hub: not sent")
	// errSendFailed is all that a spoke learns of a request that failed.
	errSendFailed = errors.New("hub: the request to the host failed")
)

// remoteReply is what the hub tells of the answer.
type remoteReply struct{ status, size int }

// sendFunc sends a request that was let out, to exactly this URL.
type sendFunc func(ctx context.Context, address string) (remoteReply, error)

// outbound serves the requests to remote hosts that a spoke makes in the course of
// one task, on whatever goroutines its host side has.
type outbound struct {
	talk *conversation
	// within is a context that ends with the task, too.
	within func(context.Context) (context.Context, context.CancelFunc)

	turn chan struct{} // holds one for each request under way
	over chan struct{} // closed when the task has ended
}

// maxOutbound bounds the requests of one spoke that are under way at once.
const maxOutbound = 8

// sendsOut lets the spoke of l send what c's run lets out, until stop, which ends
// and waits for what is under way.
func (c *conversation) sendsOut(ctx context.Context, l *lease) (stop func()) {
	if c.run.hub.cfg.HTTP == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	e := &outbound{talk: c, turn: make(chan struct{}, maxOutbound), over: make(chan struct{})}
	e.within = func(own context.Context) (context.Context, context.CancelFunc) {
		own, end := context.WithCancelCause(own)
		unhook := context.AfterFunc(ctx, func() { end(context.Cause(ctx)) })
		return own, func() {
			unhook()
			end(nil)
		}
	}
	l.outbound.Store(e)
	return func() {
		l.outbound.Store(nil)
		close(e.over)
		cancel(errNotSent)
		for range maxOutbound {
			e.turn <- struct{}{}
		}
	}
}

// fetch sends r with send, if a task runs and its run lets it. An error is
// [errNotSent], or what send failed with.
func (l *lease) fetch(ctx context.Context, r remoteRequest, send sendFunc) error {
	e := l.outbound.Load()
	if e == nil {
		return errNotSent
	}
	select {
	case e.turn <- struct{}{}:
		defer func() { <-e.turn }()
	default:
		return errNotSent
	}
	select {
	case <-e.over:
		return errNotSent
	default:
	}
	ctx, done := e.within(ctx)
	defer done()
	defer e.talk.silence.work()()
	return e.talk.fetch(ctx, r, send)
}

// fetch asks about one request, records it, sends it, and records what came of
// it. What cannot be recorded is not sent.
//
// Source: paper §III, §IV-C (data that leaves for remote hosts).
func (c *conversation) fetch(ctx context.Context, r remoteRequest, send sendFunc) (err error) {
	defer contain("request to a host", &err)
	if err := c.spendFetch(len(r.body)); err != nil {
		return fmt.Errorf("%w: %w", errNotSent, err)
	}
	manifest, _ := c.run.registry().manifest(c.who.ID)
	out, err := r.outgoing()
	if err != nil || !slices.Contains(manifest.Hosts, out.name) {
		return c.notSent(ctx, "fetch: no request to a host that the app's manifest names")
	}
	if !c.run.admit(ctx, c.sendQuestion(manifest, out)).Allowed() || ctx.Err() != nil {
		return errNotSent
	}
	rec := Record{Event: "fetch", App: c.who.ID, Functionality: c.functionality, Detail: out.host, Size: len(out.payload)}
	if c.run.recording() {
		rec.Digest = isc.DigestOf(out.payload)
	}
	if err := c.run.record(ctx, rec); err != nil {
		c.run.abort(err)
		return fmt.Errorf("%w: %w", errNotSent, err)
	}
	reply, sendErr := send(ctx, out.address)
	if sendErr != nil {
		reply = remoteReply{}
	}
	rec = Record{
		Event: "fetched", App: c.who.ID, Functionality: c.functionality, Detail: out.host, Size: reply.size,
		Reason: fmt.Sprintf("status %d", reply.status),
	}
	if r.unseen {
		rec.Reason = "a connection of its own: what passes is not seen"
	}
	if err := c.run.record(ctx, rec); err != nil {
		c.run.abort(err)
		return fmt.Errorf("%w: %w", errNotSent, err)
	}
	c.run.emit(ctx, Fetched{App: c.who.ID, Host: out.host, Status: reply.status, Size: reply.size})
	return sendErr
}

// spendFetch counts one request, of its task before of its run, so that no spoke
// uses up what is for others, too.
func (c *conversation) spendFetch(size int) error {
	c.mu.Lock()
	c.fetches++
	n := c.fetches
	c.mu.Unlock()
	if n > c.run.limits.TaskCalls {
		return fmt.Errorf("%w: more than %d requests to remote hosts in one task", ErrBudget, c.run.limits.TaskCalls)
	}
	return errors.Join(c.run.budget.fetch(), c.run.budget.body(size))
}

func (c *conversation) notSent(ctx context.Context, reason string) error {
	c.run.emit(ctx, Dropped{App: c.who.ID, Reason: reason})
	if err := c.run.record(ctx, Record{Event: "dropped", App: c.who.ID, Reason: reason}); err != nil {
		c.run.abort(err)
	}
	return errNotSent
}

// sendQuestion is the question before data of the app leaves for a host. A plan
// does not show hosts, so its approval is none to this.
func (c *conversation) sendQuestion(m isc.Manifest, out outgoing) permission.Question {
	label := c.said()
	q := permission.Question{
		Kind: permission.SendRemote, From: c.who, To: c.who, Functionality: c.functionality, Effect: isc.Write,
		Pin: m.Digest(), Payload: out.payload, Label: label, Host: out.host,
	}
	if c.planned {
		q.Plan = permission.InPlan
	}
	if !out.whole {
		q.Warnings = append(q.Warnings, permission.CodeNotShownInFull)
	}
	return q
}
