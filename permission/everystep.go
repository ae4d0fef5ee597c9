package permission

// EveryStep asks at every step, each time, as the one-time permissions of the
// paper do: no grant counts and none is offered. A plan is not asked about as a
// whole, since all that it does is.
//
// Source: paper §IV-C3, App. A-D.
func EveryStep() Policy {
	return ownPolicy(func(q Question) Ruling {
		switch {
		case !q.Kind.valid():
			return Ruling{Rule: "every-step.unknown-kind"}
		case q.Kind == ApprovePlan:
			return Ruling{Effect: RuleAllow, Rule: "every-step.plan-not-asked"}
		default:
			return Ruling{Effect: RuleAskEach, Rule: "every-step." + q.Kind.String()}
		}
	})
}

// Headless asks nothing: what no stored grant covers is denied at once. A plan
// as a whole is let through, since each of its steps needs a grant, and so is
// the choice of the only app there is. What shall run without grants needs a
// rule by name in a layer over it ([Layers]).
func Headless() Policy {
	return ownPolicy(func(q Question) Ruling {
		switch {
		case q.Kind == ApprovePlan:
			return Ruling{Effect: RuleAllow, Rule: "headless.steps-need-grants"}
		case q.Kind == SelectApp && len(q.Options) == 1:
			return Ruling{Effect: RuleAllow, Rule: "headless.only-one-app"}
		case q.Kind.rememberable():
			return Ruling{Effect: RuleGrant, Rule: "headless." + q.Kind.String()}
		default:
			return Ruling{Rule: "headless.nobody-to-ask"}
		}
	})
}

// InsecureAllowAll allows everything, irreversible acts too, and asks nobody. It
// is for measuring what the other policies prevent, and for tests.
func InsecureAllowAll() Policy {
	return ownPolicy(func(q Question) Ruling {
		return Ruling{Effect: RuleAllow, Rule: "insecure-allow-all"}
	})
}
