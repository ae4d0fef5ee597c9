package permission

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/isolategpt/isolategpt/isc"
)

// Rule is a declared rule. From, To and Functionality are names, or "*" for any;
// From and To may be "hub". In a rule that allows, all three must be there; in
// one that narrows, an empty one is any.
//
// Without Kinds a rule that narrows is about every kind, and a rule that allows
// is about those that a grant could be given for. So what installs an app,
// approves a plan or cannot be undone is allowed only by a rule that names that
// kind. And what is sent to a remote host is allowed only by a rule that names
// the host, or "*". A rule with a host is about nothing but [SendRemote].
type Rule struct {
	ID            string       `json:"id"`
	Effect        RulingEffect `json:"effect"`
	Kinds         []Kind       `json:"kinds,omitempty"`
	From          string       `json:"from,omitempty"`
	To            string       `json:"to,omitempty"`
	Functionality string       `json:"functionality,omitempty"`
	// Host is that of the question, or "*".
	Host string `json:"host,omitempty"`
}

// Validate says what is wrong with r, or nil.
func (r Rule) Validate() error {
	if r.ID == "" || isc.HasHidden(r.ID) {
		return errors.New("permission: rule: needs an id, without hidden characters")
	}
	if r.Effect > RuleAllow {
		return fmt.Errorf("permission: rule %s: unknown effect %d", r.ID, uint8(r.Effect))
	}
	for _, k := range r.Kinds {
		if !k.valid() {
			return fmt.Errorf("permission: rule %s: unknown kind %d", r.ID, uint8(k))
		}
	}
	for what, name := range map[string]string{"from": r.From, "to": r.To, "functionality": r.Functionality} {
		if err := r.checkName(what, name); err != nil {
			return fmt.Errorf("permission: rule %s: %s: %w", r.ID, what, err)
		}
	}
	if strings.ContainsFunc(r.Host, func(c rune) bool { return c <= ' ' || c >= 0x7f }) {
		return fmt.Errorf("permission: rule %s: host: it is not in ASCII form", r.ID)
	}
	return nil
}

func (r Rule) checkName(what, name string) error {
	switch {
	case name == "" && r.Effect == RuleAllow:
		return errors.New(`a rule that allows must say it: a name, or "*" for any`)
	case name == "" || name == "*":
		return nil
	case what == "functionality":
		return isc.FunctionalityName(name).Validate()
	case name == "hub":
		return nil
	default:
		return isc.AppID(name).Validate()
	}
}

// matches says whether r is about q. SelectApp has no receiver yet, so only a
// rule for any receiver is about it.
func (r Rule) matches(q Question) bool {
	if len(r.Kinds) > 0 {
		if !slices.Contains(r.Kinds, q.Kind) {
			return false
		}
	} else if r.Effect == RuleAllow && !q.Kind.rememberable() {
		return false
	}
	if q.Kind == SendRemote && r.Effect == RuleAllow && r.Host == "" || q.Kind != SendRemote && r.Host != "" {
		return false
	}
	return matchName(r.Host, q.Host) && matchName(r.From, partyOrHub(q.From.ID)) && matchName(r.To, partyOrHub(q.To.ID)) &&
		matchName(r.Functionality, string(q.Functionality))
}

func matchName(pattern, name string) bool { return pattern == "" || pattern == "*" || pattern == name }

// DecodeRules decodes a JSON array of rules strictly: an unknown key, effect or
// kind, a malformed name and an id that is there twice are errors, and then
// there are no rules at all.
func DecodeRules(raw []byte) ([]Rule, error) {
	var rules []Rule
	if err := isc.Unmarshal(raw, &rules); err != nil {
		return nil, fmt.Errorf("permission: rules: %w", err)
	}
	if err := checkRules(rules); err != nil {
		return nil, err
	}
	return rules, nil
}

func checkRules(rules []Rule) error {
	seen := make(map[string]bool, len(rules))
	for i, r := range rules {
		if err := r.Validate(); err != nil {
			return fmt.Errorf("%w (rule %d)", err, i)
		}
		if seen[r.ID] {
			return fmt.Errorf("permission: rules: id %s is there twice", r.ID)
		}
		seen[r.ID] = true
	}
	return nil
}
