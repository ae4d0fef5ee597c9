package permission

import (
	"errors"
	"fmt"
	"slices"
)

// Layer is a named list of rules: the organisation's, the user's, the session's.
type Layer struct {
	Name  string
	Rules []Rule
}

// Layers is a policy of declared rules over a base policy. Of all rules of all
// layers that are about a question, the strongest decides: deny beats ask beats
// allow, and neither order nor a more specific rule matters. Where no rule is
// about a question, base decides; its layer is called "base".
//
// So a rule can narrow base and, by name, widen it. An invalid rule, a layer
// without a name and a name that is there twice are errors.
//
// Source: design, consent page, section 1.
func Layers(base Policy, layers ...Layer) (Policy, error) {
	if base == nil {
		return nil, errors.New("permission: layers: no base policy")
	}
	own := make([]Layer, len(layers))
	for i, l := range layers {
		if l.Name == "" || l.Name == baseLayer {
			return nil, fmt.Errorf("permission: layers: layer %d needs a name other than %q", i, baseLayer)
		}
		if slices.ContainsFunc(own[:i], func(o Layer) bool { return o.Name == l.Name }) {
			return nil, fmt.Errorf("permission: layers: layer %s is there twice", l.Name)
		}
		if err := checkRules(l.Rules); err != nil {
			return nil, fmt.Errorf("permission: layers: layer %s: %w", l.Name, err)
		}
		own[i] = Layer{Name: l.Name, Rules: cloneRules(l.Rules)}
	}
	return layered{base: base, layers: own}, nil
}

const baseLayer = "base"

func cloneRules(in []Rule) []Rule {
	out := slices.Clone(in)
	for i := range out {
		out[i].Kinds = slices.Clone(out[i].Kinds)
	}
	return out
}

type layered struct {
	base   Policy
	layers []Layer
}

func (p layered) Rule(q Question) Ruling {
	var best *Ruling
	each := false
	for _, l := range p.layers {
		for _, r := range l.Rules {
			if !r.matches(q) {
				continue
			}
			each = each || r.Effect == RuleAskEach
			if best == nil || r.Effect < best.Effect {
				best = &Ruling{Effect: r.Effect, Rule: r.ID, Layer: l.Name}
			}
		}
	}
	if best == nil {
		r := p.base.Rule(q)
		if r.Layer == "" {
			r.Layer = baseLayer
		}
		return r
	}
	if best.Effect == RuleGrant && each {
		best.Effect = RuleDeny // one wants a grant only, another lets no grant count
	}
	return *best
}
