package permission

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/isolategpt/isolategpt/isc"
)

// grace is how long a prompter may take to return after its context ended.
const grace = time.Second

// errTimeout ends the context of a prompt.
var errTimeout = errors.New("permission: the prompt timed out")

// prompt asks the person. The run holds the turn, and prompt gives it up.
func (r *Run) prompt(ctx context.Context, q Question, ruling Ruling) Verdict {
	gate := r.session.gate
	req, err := r.request(ctx, q, ruling)
	if err != nil {
		gate.queue.leave(q.User)
		return doubt(err.Error())
	}
	// One deadline, which is also shown, for all that follows.
	pctx, cancel := context.WithDeadlineCause(ctx, req.Expires, errTimeout)
	defer cancel()
	if err := r.announce(pctx, req); err != nil {
		gate.queue.leave(q.User)
		if ctx.Err() != nil {
			return doubt(endReason(ctx))
		}
		return doubt(err.Error())
	}
	ans, held, err := gate.consult(pctx, req)
	v, asked := r.judge(ctx, req, ans, err)
	if v.Decision == Deny && asked {
		r.noteDenied(q)
	}
	if held {
		gate.queue.leave(q.User) // after the answer counts, so that the next one sees it
	}
	shown := req.clone()
	v.Request = &shown
	return v
}

// request makes what the person is shown out of q.
func (r *Run) request(ctx context.Context, q Question, ruling Ruling) (Request, error) {
	index, of := r.session.gate.queue.place(q.User)
	req := Request{
		ID: randomID(), Nonce: randomID(), Expires: time.Now().Add(r.session.gate.cfg.Timeout),
		Question: q.clone(), Assessment: Assess(q), Index: index, Of: of,
	}
	if _, _, suspended := r.session.covering(ctx, q); suspended {
		req.find(CodeManifestChanged)
	}
	if r.session.wasDenied(q.identity()) {
		req.find(CodeRepeatedAfterDenial)
	}
	req.Offered, req.WithheldBecause = offered(req, ruling)
	digest, err := digestOf(req)
	if err != nil {
		return Request{}, fmt.Errorf("permission: request: %w", err)
	}
	req.Digest = digest
	return req, nil
}

// find adds a finding that only the gate can make.
func (r *Request) find(c Code) {
	if !slices.ContainsFunc(r.Assessment, func(f Finding) bool { return f.Code == c }) {
		r.Assessment = append(r.Assessment, Finding{Code: c, Reason: codeWords(c), Warning: true})
	}
}

// offered are the answers that would be accepted, and why there are no more.
func offered(r Request, ruling Ruling) ([]Decision, string) {
	if why := r.onceOnly(); why != "" {
		return []Decision{Deny, AllowOnce}, why
	}
	if ruling.Effect == RuleAskEach {
		return []Decision{Deny, AllowOnce}, "the policy asks each time"
	}
	for _, f := range r.Assessment {
		if f.Warning {
			return []Decision{Deny, AllowOnce, AllowSession}, "there is a warning: " + f.Reason
		}
	}
	return []Decision{Deny, AllowOnce, AllowSession, AllowPermanent}, ""
}

func (r Request) clone() Request {
	r.Question = r.Question.clone()
	r.Assessment = slices.Clone(r.Assessment)
	r.Offered = slices.Clone(r.Offered)
	return r
}

// announce tells the embedding program that a person is asked. What does not
// return holds up its own user alone, and not beyond ctx: it is left behind.
func (r *Run) announce(ctx context.Context, req Request) error {
	if r.cfg.OnAsk == nil {
		return nil
	}
	told := make(chan struct{})
	err := errOnAskGone
	go func() {
		defer close(told)
		defer func() { _ = recover() }() // what it panicked with may hold anything
		r.cfg.OnAsk(req.clone())
		err = nil
	}()
	select {
	case <-told:
		return err
	case <-ctx.Done():
	}
	late := time.NewTimer(grace)
	defer late.Stop()
	select {
	case <-told:
		return context.Cause(ctx)
	case <-late.C:
		return errOnAskStuck
	}
}

// What OnAsk and prompters do wrong.
var (
	errOnAskGone    = errors.New("OnAsk panicked")
	errOnAskStuck   = errors.New("OnAsk did not return in time")
	errPrompterGone = errors.New("the prompter panicked")
)

// consultation is one call of the prompter.
type consultation struct {
	mu        sync.Mutex
	returned  bool
	abandoned bool
	got       chan Answer
	err       error // set before got
}

// consult calls the prompter on a goroutine of its own, so that one which does
// not return cannot hold up the check. It says whether the turn is still the
// caller's to give up: if the prompter did not return in time, the goroutine
// gives it up when it does, and until then nobody else is asked.
func (g *Gate) consult(ctx context.Context, req Request) (ans Answer, held bool, err error) {
	c := &consultation{got: make(chan Answer, 1)}
	go func() {
		ans, err := Answer{}, errPrompterGone
		defer func() { c.finish(g.queue, req.User, ans, err) }()
		ans, err = callPrompter(ctx, g.cfg.Prompter, req.clone())
		g.used.add(req.ID)
		if ctx.Err() != nil {
			err = context.Cause(ctx) // late, whatever it says
		}
	}()
	select {
	case ans := <-c.got:
		return ans, true, c.err
	case <-ctx.Done():
	}
	late := time.NewTimer(grace)
	defer late.Stop()
	select {
	case ans := <-c.got:
		return ans, true, c.err
	case <-late.C:
		held = !c.abandon(g.queue, req.User)
		return Answer{}, held, context.Cause(ctx)
	}
}

func (c *consultation) finish(q *queues, user string, ans Answer, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.returned, c.err = true, err
	c.got <- ans
	if c.abandoned {
		q.leave(user)
	}
}

// abandon leaves the prompter to itself, unless it has returned.
func (c *consultation) abandon(q *queues, user string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.returned {
		return false
	}
	c.abandoned = true
	q.block(user)
	return true
}

func callPrompter(ctx context.Context, p ConsentPrompter, req Request) (ans Answer, err error) {
	defer func() {
		if recover() != nil { // what it panicked with may hold anything
			ans, err = Answer{}, errPrompterGone
		}
	}()
	ans, err = p.Prompt(ctx, req)
	if err != nil {
		return Answer{}, fmt.Errorf("the prompter failed: %w", err)
	}
	return ans, nil
}

// judge makes a verdict of what came back, and says whether a person may have
// seen the request, so that a denial is to be remembered.
func (r *Run) judge(ctx context.Context, req Request, ans Answer, err error) (v Verdict, asked bool) {
	switch {
	case errors.Is(err, errTimeout):
		return doubt(reasonTimeout), true
	case ctx.Err() != nil:
		return doubt(endReason(ctx)), false
	case err != nil:
		return doubt(err.Error()), true
	case r.session.isClosed():
		return doubt(reasonClosed), false
	}
	if why := r.session.gate.mismatch(req, ans); why != "" {
		return doubt(why), true
	}
	if ans.Decision == Deny {
		return Verdict{By: byUser, Reason: userReason(ans.Reason)}, true
	}
	d, note := r.session.remember(ctx, req, ans.Choice, ans.Decision)
	if d == Deny {
		return doubt(note), false
	}
	if note == "" {
		note = "allowed by the user: " + d.String()
	}
	return Verdict{Decision: d, By: byUser, Reason: note, Choice: ans.Choice}, true
}

// mismatch says why ans is no answer to req, or "".
func (g *Gate) mismatch(req Request, ans Answer) string {
	switch {
	case ans == Answer{}:
		return reasonZero
	case ans.ID != req.ID && g.used.has(ans.ID):
		return reasonTwice
	case ans.ID != req.ID:
		return reasonForeign
	case ans.Digest != req.Digest:
		return reasonDigest
	case !slices.Contains(req.Offered, ans.Decision):
		return reasonOffered
	case ans.Decision == Deny:
		return ""
	case req.Kind == SelectApp && !offers(req.Options, ans.Choice):
		return reasonNoOption
	case req.Kind != SelectApp && ans.Choice != isc.AppID(""):
		return reasonNoOption
	default:
		return ""
	}
}

func userReason(reason string) string {
	if reason == "" {
		return "denied by the user"
	}
	return "denied by the user: " + reason
}
