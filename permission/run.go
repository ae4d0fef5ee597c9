package permission

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/isolategpt/isolategpt/isc"
)

// DefaultMaxPrompts is how many prompts a run may show where [RunConfig] says
// nothing.
const DefaultMaxPrompts = 20

// maxRefusals is how often one act may be denied in a run, whatever its payload,
// before it is denied without asking.
const maxRefusals = 3

// RunConfig bounds a run.
type RunConfig struct {
	// MaxPrompts is how many prompts one run may show. Beyond it everything is
	// denied. Zero means 20; a negative number is none.
	MaxPrompts int
	// OnAsk is called before a person is really asked; nil to ignore. The request
	// is a copy. The check waits for OnAsk as long as it would for the person, and
	// the user's other checks wait with it, so it should return at once; one that
	// does not, and one that panics, denies.
	OnAsk func(Request)
}

// Run is the gate of one run: it remembers denials and counts prompts. It is
// safe for concurrent use.
type Run struct {
	session *Session
	cfg     RunConfig

	mu       sync.Mutex
	prompts  int
	broken   bool // the breaker: everything is denied
	denied   map[isc.Digest]bool
	refusals map[act]int
}

// Run starts a run.
func (s *Session) Run(cfg RunConfig) *Run {
	if cfg.MaxPrompts == 0 {
		cfg.MaxPrompts = DefaultMaxPrompts
	}
	return &Run{session: s, cfg: cfg, denied: map[isc.Digest]bool{}, refusals: map[act]int{}}
}

// The reasons of the gate itself.
const (
	reasonClosed    = "the session is closed"
	reasonNoUser    = "there is no user to decide for"
	reasonBudget    = "the run has asked as often as it may; everything else is denied"
	reasonDenied    = "denied before in this run"
	reasonRefused   = "denied so often in this run that it is not asked again"
	reasonPrompter  = "no prompter configured"
	reasonTimeout   = "timeout"
	reasonZero      = "the prompter gave no answer"
	reasonForeign   = "the answer is to another request"
	reasonTwice     = "the answer is to a request that is over"
	reasonDigest    = "the answer is not to what was shown"
	reasonOffered   = "the answer is not one of those offered"
	reasonNoOption  = "the answer chooses an app that was not an option"
	reasonCancelled = "cancelled"
)

// Check decides. It never fails: every doubt is a denial with a reason. It
// blocks while a person is asked, and while others of the same user are asked before, until ctx
// ends; ctx ending denies.
//
// The order: what is malformed, over budget or was denied in this run is denied;
// a policy that denies or allows is final; then a grant; then the person. What
// waits behind another question is decided anew when its turn comes, so that one
// answer for the session or for good releases all that it covers, and one denial
// ends all that are the same. A permission for once is for one check alone.
func (r *Run) Check(ctx context.Context, q Question) Verdict {
	q = q.clone()
	q.User = r.session.user
	if v, done := r.refuse(ctx, q); done {
		return v
	}
	ruling := Explain(r.session.gate.cfg.Policy, q)
	switch ruling.Effect {
	case RuleAllow:
		return allowByPolicy(q, ruling)
	case RuleGrant, RuleAskEach, RuleAsk:
		return r.ask(ctx, q, ruling)
	default:
		v := Verdict{By: byPolicy, Rule: ruling.Rule, Layer: ruling.Layer, Reason: "denied by the policy"}
		if ruling.Rule == "" {
			v.By, v.Reason = byGate, "the policy rules nothing"
		}
		return v
	}
}

// allowByPolicy allows q. Of several candidates the first is chosen: the order
// is the hub's.
func allowByPolicy(q Question, ruling Ruling) Verdict {
	v := Verdict{Decision: AllowOnce, By: byPolicy, Rule: ruling.Rule, Layer: ruling.Layer, Reason: "allowed by the policy"}
	if q.Kind == SelectApp {
		v.Choice = q.Options[0].ID
	}
	return v
}

// refuse is what needs no policy.
func (r *Run) refuse(ctx context.Context, q Question) (Verdict, bool) {
	switch {
	case r.session.user == "":
		return doubt(reasonNoUser), true
	case r.session.isClosed():
		return doubt(reasonClosed), true
	case ctx.Err() != nil:
		return doubt(endReason(ctx)), true
	}
	if err := q.Validate(); err != nil {
		return doubt(err.Error()), true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.broken:
		return doubt(reasonBudget), true
	case len(r.denied) > 0 && r.denied[q.identity()]:
		return doubt(reasonDenied), true
	default:
		return Verdict{}, false
	}
}

// ask looks for a grant, and then asks the person.
func (r *Run) ask(ctx context.Context, q Question, ruling Ruling) Verdict {
	if v, done := r.byGrant(ctx, q, ruling); done {
		return v
	}
	gate := r.session.gate
	if gate.cfg.Prompter == nil {
		return doubt(reasonPrompter + "; it would be allowed by: " + wantedRule(q))
	}
	if err := gate.queue.enter(ctx, q.User); err != nil {
		if errors.Is(err, errStuck) {
			return doubt(err.Error())
		}
		return doubt(endReason(ctx))
	}
	// The turn has come; the world may have changed.
	if v, done := r.refuse(ctx, q); done {
		gate.queue.leave(q.User)
		return v
	}
	if v, done := r.byGrant(ctx, q, ruling); done {
		gate.queue.leave(q.User)
		return v
	}
	if v, done := r.spend(q); done {
		gate.queue.leave(q.User)
		return v
	}
	return r.prompt(ctx, q, ruling) // leaves the queue
}

// byGrant decides by a grant, or denies where only a grant could allow.
func (r *Run) byGrant(ctx context.Context, q Question, ruling Ruling) (Verdict, bool) {
	if ruling.Effect != RuleAskEach {
		if g, found, _ := r.session.covering(ctx, q); found {
			v := Verdict{Decision: g.Decision, By: byGrant, Rule: g.ID, Reason: "covered by a grant"}
			if q.Kind == SelectApp {
				v.Choice = g.Provider
			}
			return v, true
		}
	}
	if ruling.Effect == RuleGrant {
		return Verdict{By: byPolicy, Rule: ruling.Rule, Layer: ruling.Layer,
			Reason: "no stored grant covers it and the policy asks nobody; it would be allowed by: " + wantedRule(q)}, true
	}
	return Verdict{}, false
}

// spend takes one prompt out of the run's budget.
func (r *Run) spend(q Question) (Verdict, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refusals[q.act()] >= maxRefusals {
		return doubt(reasonRefused), true
	}
	if r.prompts >= r.cfg.MaxPrompts {
		r.broken = true
		return doubt(reasonBudget), true
	}
	r.prompts++
	return Verdict{}, false
}

// noteDenied remembers that a person was asked and it was denied.
func (r *Run) noteDenied(q Question) {
	id := q.identity()
	r.mu.Lock()
	r.denied[id] = true
	r.refusals[q.act()]++
	r.mu.Unlock()
	r.session.noteDenied(id)
}

// endReason tells a deadline of the caller from a cancellation.
func endReason(ctx context.Context) string {
	return fmt.Sprintf("%s: %v", reasonCancelled, context.Cause(ctx))
}

// wantedRule is the rule that would allow q, for who runs without a person.
func wantedRule(q Question) string {
	s := fmt.Sprintf("allow %s from %s to %s", q.Kind, partyOrHub(q.From.ID), partyOrHub(q.To.ID))
	if q.Functionality != "" {
		s += " functionality " + string(q.Functionality)
	}
	if q.Host != "" {
		s += " host " + q.Host
	}
	return s
}
