package permission

import (
	"context"
	"time"

	"github.com/isolategpt/isolategpt/isc"
)

// Config is what a [Gate] is made of.
type Config struct {
	// Prompter asks the person. Nil: what would be asked is denied, with the
	// reason that there is no prompter.
	Prompter ConsentPrompter
	// Store keeps permanent grants. Nil is an error from [NewGate].
	Store Store
	// Policy decides what is asked. Nil is an error from [NewGate].
	Policy Policy
	// Timeout bounds one prompt. Zero means two minutes.
	Timeout time.Duration
}

// Gate decides, for all sessions of one hub, whether something may happen.
type Gate struct{ cfg Config }

// NewGate makes a gate.
func NewGate(cfg Config) (*Gate, error) { panic("contract") }

// Session is the gate of one user's session: it holds the session grants.
type Session struct{}

// Session starts the session of user.
func (g *Gate) Session(user string) *Session { panic("contract") }

// Close voids the session grants. Everything asked afterwards is denied.
func (s *Session) Close() { panic("contract") }

// Grants lists the session's and the user's permanent grants.
func (s *Session) Grants(ctx context.Context) ([]Grant, error) { panic("contract") }

// Revoke takes a grant back, session or permanent, at once.
func (s *Session) Revoke(ctx context.Context, id string) error { panic("contract") }

// Run is the gate of one run: it remembers denials and counts prompts.
type Run struct{}

// RunConfig bounds a run.
type RunConfig struct {
	// MaxPrompts is how many prompts one run may show. Beyond it everything is
	// denied. Zero means 20.
	MaxPrompts int
	// OnAsk is called before a person is really asked, on the goroutine of the
	// check; nil to ignore.
	OnAsk func(Request)
}

// Run starts a run.
func (s *Session) Run(cfg RunConfig) *Run { panic("contract") }

// Check decides. It never fails: every doubt is a denial with a reason.
func (r *Run) Check(ctx context.Context, q Question) Verdict { panic("contract") }

// Verdict is a decision and why.
type Verdict struct {
	Decision Decision
	// By says who decided: "policy", "grant", "user", or "gate" (a doubt).
	By string
	// Rule is the policy's rule or the grant's id.
	Rule string
	// Layer is the policy layer that decided.
	Layer string
	// Reason is in words, for the audit trail and the embedding program.
	Reason string
	// Choice is the chosen candidate of SelectApp.
	Choice isc.AppID
	// Request is what the person was shown, if one was asked.
	Request *Request
}

// Allowed says whether it may happen.
func (v Verdict) Allowed() bool { return v.Decision != Deny && v.Decision <= AllowPermanent }

// Store keeps permanent grants.
type Store interface {
	// Grants returns the grants of user as they are now.
	Grants(ctx context.Context, user string) ([]Grant, error)
	// Put adds g, or replaces the grant with its id.
	Put(ctx context.Context, g Grant) error
	// Revoke removes a grant of user. Unknown ids are an error.
	Revoke(ctx context.Context, user, id string) error
}

// Policy says what needs asking. Explain-able: a ruling names its rule. The
// zero Ruling denies.
type Policy interface {
	Rule(q Question) Ruling
}

// Ruling is what a policy says.
type Ruling struct {
	Effect RulingEffect
	Rule   string // the rule's name
	Layer  string // the layer's name, set by Layers
}

// RulingEffect is the effect of a rule. The zero value denies.
type RulingEffect uint8

// The effects, strongest first.
const (
	RuleDeny RulingEffect = iota
	RuleAsk
	RuleAllow
)
