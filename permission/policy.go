package permission

import (
	"fmt"
	"slices"
)

// Policy says what needs asking. Explain-able: a ruling names its rule. The
// zero Ruling denies.
//
// Rule must be safe for concurrent use and must not change q. A panic denies.
type Policy interface {
	Rule(q Question) Ruling
}

// PolicyFunc makes a [Policy] of a function.
type PolicyFunc func(q Question) Ruling

// Rule calls f.
func (f PolicyFunc) Rule(q Question) Ruling { return f(q) }

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
	// RuleDeny is final: no grant and no person changes it.
	RuleDeny RulingEffect = iota
	// RuleGrant lets only a stored grant allow it; nobody is asked.
	RuleGrant
	// RuleAskEach asks each time; grants do not count and none can be given.
	RuleAskEach
	// RuleAsk asks unless a grant covers it.
	RuleAsk
	// RuleAllow allows it without asking.
	RuleAllow
)

var effectNames = [...]string{
	RuleDeny: "deny", RuleGrant: "grant", RuleAskEach: "ask-each", RuleAsk: "ask", RuleAllow: "allow",
}

// String is the effect's name: "ask-each".
func (e RulingEffect) String() string {
	if int(e) >= len(effectNames) {
		return fmt.Sprintf("RulingEffect(%d)", uint8(e))
	}
	return effectNames[e]
}

// MarshalText gives the effect's name. An unknown effect is an error.
func (e RulingEffect) MarshalText() ([]byte, error) {
	if int(e) >= len(effectNames) {
		return nil, fmt.Errorf("permission: unknown effect %d", uint8(e))
	}
	return []byte(effectNames[e]), nil
}

// UnmarshalText accepts exactly the names that MarshalText gives.
func (e *RulingEffect) UnmarshalText(text []byte) error {
	i := slices.Index(effectNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("permission: unknown effect %q", text)
	}
	*e = RulingEffect(i)
	return nil
}

// ownPolicy is a policy of this package. It reads q, and neither keeps nor
// changes it.
type ownPolicy func(q Question) Ruling

// Rule calls f.
func (f ownPolicy) Rule(q Question) Ruling { return f(q) }

// trusted says whether p is nothing but policies of this package, so that it
// needs no copy of a question.
func trusted(p Policy) bool {
	switch p := p.(type) {
	case ownPolicy:
		return true
	case layered:
		return trusted(p.base)
	}
	return false
}

// Explain says what p rules on q, and by which rule of which layer, as a [Run]
// sees it: a policy that panics, or rules what there is not, denies.
func Explain(p Policy, q Question) (r Ruling) {
	defer func() {
		if recover() != nil {
			r = Ruling{Rule: "the policy panicked"}
		}
	}()
	if !trusted(p) {
		q = q.clone()
	}
	r = p.Rule(q)
	if r.Effect > RuleAllow {
		return Ruling{Rule: fmt.Sprintf("the policy ruled an unknown effect %d", uint8(r.Effect)), Layer: r.Layer}
	}
	return r
}
