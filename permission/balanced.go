package permission

import (
	"slices"

	"github.com/isolategpt/isolategpt/isc"
)

// Balanced asks where a person's judgement is needed and not elsewhere: no
// dialog for closed values on planned reads, or for what the user approved with
// the plan. The approval of a plan does not cover what nobody could see then: an
// app that changed since, a run that turned out to break the rule of two, and a
// target that came out of an app's data: a read that goes to such a destination
// sends something there, so only records that are read may come from an app.
//
// Source: design, consent page, section 1; paper §IV-C3.
func Balanced() Policy { return ownPolicy(balanced) }

func balanced(q Question) Ruling {
	approved := q.Plan == PlanApproved && !exceedsPlan(q)
	switch q.Kind {
	case SelectApp:
		return allowIf(len(q.Options) == 1, "balanced.only-one-app", "balanced.select-app")
	case InstallApp, ApprovePlan, Irreversible:
		return Ruling{Effect: RuleAsk, Rule: "balanced." + q.Kind.String()}
	case Collaborate:
		if q.Effect == isc.Irreversible {
			return Ruling{Effect: RuleAsk, Rule: "balanced.irreversible"}
		}
		if q.Closed && q.Effect == isc.Read && q.Plan != NotInPlan && !exceedsPlan(q) {
			return Ruling{Effect: RuleAllow, Rule: "balanced.closed-planned-read"}
		}
		return allowIf(approved, "balanced.plan-approved", "balanced.collaborate")
	case Deliver:
		if q.Closed {
			return Ruling{Effect: RuleAllow, Rule: "balanced.closed-answer"}
		}
		return allowIf(approved, "balanced.plan-approved", "balanced.deliver")
	case ShareData, SendRemote, Change:
		return allowIf(approved, "balanced.plan-approved", "balanced."+q.Kind.String())
	default:
		return Ruling{Rule: "balanced.unknown-kind"}
	}
}

func allowIf(ok bool, allow, ask string) Ruling {
	if ok {
		return Ruling{Effect: RuleAllow, Rule: allow}
	}
	return Ruling{Effect: RuleAsk, Rule: ask}
}

// exceedsPlan says whether q shows what no approved plan can have shown.
func exceedsPlan(q Question) bool {
	if slices.Contains(q.Warnings, CodeManifestChanged) || slices.Contains(q.Warnings, CodeRuleOfTwo) {
		return true
	}
	// What is only read, shared or answered may be about any record.
	anyRecord := q.Kind == Deliver || q.Kind == ShareData || q.Kind == Collaborate && q.Effect == isc.Read
	return slices.ContainsFunc(q.Fields, func(f PayloadField) bool {
		return !f.Label.IsTrusted() && (f.Role == isc.Destination || f.Role == isc.Record && !anyRecord)
	})
}
