package permission

import "github.com/isolategpt/isolategpt/isc"

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

// Who decided.
const (
	byPolicy = "policy"
	byGrant  = "grant"
	byUser   = "user"
	byGate   = "gate"
)

// doubt is a denial by the gate itself.
func doubt(reason string) Verdict { return Verdict{By: byGate, Reason: reason} }
