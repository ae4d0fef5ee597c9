package hub

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/isolategpt/isolategpt/internal/pace"
	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/permission"
)

// conversation is one task of one spoke, from Task to Result. It belongs to one
// goroutine; a collaboration is a conversation inside another. Beside that
// goroutine others may bring the spoke's requests to remote hosts.
type conversation struct {
	run  *run
	who  permission.Party
	conn isc.HubConn
	// stack holds the apps that wait for this one, itself last: none of them
	// can be asked again, so apps cannot go round in circles.
	stack []isc.AppID
	// may are the catalogue entries that the plan lets this task ask for.
	may map[string]bool
	// functionality is what the task is about, if it is a call.
	functionality isc.FunctionalityName
	// planned says that the plan expects the task.
	planned bool
	offers  map[isc.Handle]*offer
	// atMost bounds its requests and confirmations beside the limit of each task,
	// if above zero; calls counts them.
	atMost, calls int
	bytes         int // that it said
	strikes       int
	broken        error // why the spoke is not well, once it is not
	delivered     bool  // the spoke has the task
	silence       silence
	pace          pace.Bucket

	mu sync.Mutex
	// given joins the labels of all that the spoke was given in this task.
	given isc.Label
	// fetches counts its requests to remote hosts.
	fetches int
}

// converse gives t to the spoke and serves it until its result. The result's
// body is not checked yet. An error means that the spoke is not well.
//
// Source: paper §IV-B5, §IV-C4.
func (c *conversation) converse(ctx context.Context, t isc.Task) (isc.Result, error) {
	if err := c.send(ctx, t); err != nil {
		return isc.Result{}, err
	}
	c.delivered = true
	for range c.run.limits.Messages {
		m, err := c.receive(ctx)
		if err != nil {
			return isc.Result{}, err
		}
		var reply isc.ToSpoke
		switch m := m.(type) {
		case isc.Result:
			return m, nil
		case isc.Progress:
			if err := pace.Rest(ctx, c.pace.Take(1, time.Now())); err != nil {
				return isc.Result{}, err
			}
			c.run.emit(ctx, Progress{App: c.who.ID, Text: m.Text})
			continue
		case isc.NeedData:
			reply = c.share(ctx, m)
		case isc.Confirm:
			reply = c.confirm(ctx, m)
		case isc.Probe:
			reply = c.probe(ctx, m)
		case isc.Request:
			reply = c.route(ctx, m)
		case nil:
			reply = c.drop(ctx, "malformed message")
		}
		if c.broken != nil {
			return isc.Result{}, c.broken
		}
		if err := c.send(ctx, reply); err != nil {
			return isc.Result{}, err
		}
	}
	return isc.Result{}, c.lost(fmt.Errorf("%w: more than %d messages in one task", ErrBudget, c.run.limits.Messages))
}

func (c *conversation) lost(err error) error { return &LostError{App: c.who.ID, Err: err} }

// receive returns the next message, or nil for one that could not be decoded.
func (c *conversation) receive(ctx context.Context) (isc.ToHub, error) {
	watched, done := c.silence.watch(ctx)
	defer done()
	m, err := c.conn.Recv(watched)
	switch {
	case err == nil:
		return m, c.account(ctx, "up", m)
	case errors.Is(err, isc.ErrMalformed):
		return nil, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	default:
		return nil, c.lost(err)
	}
}

func (c *conversation) send(ctx context.Context, m isc.ToSpoke) error {
	if err := c.account(ctx, "down", m); err != nil {
		return err
	}
	watched, done := c.silence.watch(ctx)
	defer done()
	err := c.conn.Send(watched, m)
	switch {
	case err == nil, errors.Is(err, isc.ErrMalformed), errors.Is(err, isc.ErrTooLarge): // what the hub would say is none of the spoke's doing
		return err
	case ctx.Err() != nil:
		return context.Cause(ctx)
	default:
		return c.lost(err)
	}
}

// account counts and records a message before anything is done with it: what
// cannot be recorded does not happen.
func (c *conversation) account(ctx context.Context, direction string, m any) error {
	name, body := describe(m)
	if direction == "up" {
		if c.bytes += len(body); c.bytes > c.run.limits.TaskBytes { // before it has used up what is for others, too
			return c.lost(fmt.Errorf("%w: more than %d message bytes in one task", ErrBudget, c.run.limits.TaskBytes))
		}
	}
	if err := c.run.budget.body(len(body)); err != nil {
		return err
	}
	r := Record{Event: "message", App: c.who.ID, Detail: direction + " " + name, Size: len(body)}
	if len(body) > 0 && c.run.recording() {
		r.Digest = isc.DigestOf(body)
	}
	return c.run.record(ctx, r)
}

// spends counts n requests or confirmations and says whether the task may still
// make them.
func (c *conversation) spends(n int) bool {
	c.calls += n
	return c.calls <= c.run.limits.TaskCalls && (c.atMost <= 0 || c.calls <= c.atMost)
}

// drop refuses a message that was not understood or not legal, and counts it.
// Past the limit the conversation ends: the spoke is not well.
func (c *conversation) drop(ctx context.Context, reason string) isc.ToSpoke {
	c.strikes++
	c.run.emit(ctx, Dropped{App: c.who.ID, Reason: reason})
	err := c.run.record(ctx, Record{Event: "dropped", App: c.who.ID, Reason: reason})
	if err == nil && c.strikes > c.run.limits.Strikes {
		err = c.lost(fmt.Errorf("%w: more than %d illegal messages", ErrBudget, c.run.limits.Strikes))
	}
	if c.broken == nil {
		c.broken = err
	}
	return isc.Refused{}
}
