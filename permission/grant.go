package permission

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/isolategpt/isolategpt/isc"
)

// Grant is a remembered permission: user, caller, functionality, provider, the
// pin of what was approved, the targets it was given for, and the warnings that
// the person saw. It is never from app to app alone.
type Grant struct {
	ID            string                `json:"id"`
	User          string                `json:"user"`
	Kind          Kind                  `json:"kind"`
	Caller        isc.AppID             `json:"caller,omitempty"`   // empty: the hub
	Provider      isc.AppID             `json:"provider,omitempty"` // the chosen app, for SelectApp
	Functionality isc.FunctionalityName `json:"functionality,omitempty"`
	Host          string                `json:"host,omitempty"`
	Pin           isc.Digest            `json:"pin"`
	// Targets are the values of destination and record fields that the grant
	// was given for, by pointer. Another value is asked again.
	Targets map[string]json.RawMessage `json:"targets,omitempty"`
	// Probe is that of the question: a grant given at a probe covers probes only.
	Probe bool `json:"probe,omitempty"`
	// Warned are the codes of the warnings that the person saw, sorted. With
	// another warning it is asked again, but for one of the plan alone.
	Warned   []Code    `json:"warned,omitempty"`
	Decision Decision  `json:"decision"` // AllowSession or AllowPermanent
	Created  time.Time `json:"created"`
}

// String is the rule in words: "allow collaborate app.travel -> app.mail
// search_mail where /folder = "inbox"". Target values are JSON, as they are;
// whoever shows them escapes them.
func (g Grant) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "allow %s", g.Kind)
	if g.Probe {
		b.WriteString(" (only to learn whether someone serves it)")
	}
	fmt.Fprintf(&b, " %s -> %s", partyOrHub(g.Caller), partyOrHub(g.Provider))
	if g.Functionality != "" {
		fmt.Fprintf(&b, " %s", g.Functionality)
	}
	if g.Host != "" {
		fmt.Fprintf(&b, " host %s", g.Host)
	}
	sep := " where "
	for _, p := range slices.Sorted(maps.Keys(g.Targets)) {
		fmt.Fprintf(&b, "%s%s = %s", sep, p, g.Targets[p])
		sep = ", "
	}
	sep = " despite "
	for _, c := range g.Warned {
		b.WriteString(sep + string(c))
		sep = ", "
	}
	return b.String()
}

func partyOrHub(id isc.AppID) string {
	if id == "" {
		return "hub"
	}
	return string(id)
}

func (g Grant) clone() Grant {
	targets := maps.Clone(g.Targets)
	for p, v := range targets {
		targets[p] = slices.Clone(v)
	}
	g.Targets = targets
	g.Warned = slices.Clone(g.Warned)
	return g
}

// canonicalTargets puts the values of g back into the form in which they are
// compared, which a file need not have kept.
func (g Grant) canonicalTargets() error {
	for p, v := range g.Targets {
		canonical, err := isc.Canonical(v)
		if err != nil {
			return fmt.Errorf("target %q: %w", p, err)
		}
		g.Targets[p] = canonical
	}
	return nil
}

func cloneGrants(in []Grant) []Grant {
	out := make([]Grant, len(in))
	for i, g := range in {
		out[i] = g.clone()
	}
	return out
}

// possible says whether a grant like g can exist at all. A store that holds
// another kind or lifetime has been tampered with or is broken.
func (g Grant) possible(lifetime Decision) bool {
	return g.ID != "" && g.User != "" && g.Kind.rememberable() && g.Decision == lifetime
}

// fit says how a grant stands to a question.
type fit uint8

const (
	fitNot       fit = iota
	fitSuspended     // all the same but for the pin: the definition has changed
	fitCovers
)

// fits says whether g covers q. A grant for an app that was not pinned, or with
// another pin, is suspended: kept, and not counted.
//
// Targets are those of q, and warned are the codes of its warnings.
func (g Grant) fits(user string, q Question, targets map[string]json.RawMessage, warned []Code) fit {
	same := g.User == user && g.Kind == q.Kind && g.Probe == q.Probe && g.Caller == q.From.ID &&
		g.Functionality == q.Functionality && g.Host == q.Host && sameTargets(g.Targets, targets)
	switch {
	case !same || q.onceOnly() != "":
		return fitNot
	case q.Kind == SelectApp && !offers(q.Options, g.Provider):
		return fitNot
	case q.Kind != SelectApp && g.Provider != q.To.ID:
		return fitNot
	case g.Pin != q.Pin:
		return fitSuspended
	case !g.knows(warned):
		return fitNot
	default:
		return fitCovers
	}
}

// knows says whether the person saw these warnings. That the plan does not expect
// something speaks of each run anew, and is no reason by itself.
func (g Grant) knows(warned []Code) bool {
	for _, c := range warned {
		if c != CodeNotInPlan && c != CodeFirstUse && !slices.Contains(g.Warned, c) {
			return false
		}
	}
	return true
}

// warned are the codes of the warnings among findings, sorted, each once.
func warned(findings []Finding) []Code {
	var out []Code
	for _, f := range findings {
		if f.Warning {
			out = append(out, f.Code)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func offers(options []Party, id isc.AppID) bool {
	return slices.ContainsFunc(options, func(p Party) bool { return p.ID == id })
}

func sameTargets(a, b map[string]json.RawMessage) bool {
	return maps.EqualFunc(a, b, func(v, w json.RawMessage) bool { return bytes.Equal(v, w) })
}

// grantFor is the grant that allowing r for longer than once would make.
func grantFor(user string, r Request, choice isc.AppID, lifetime Decision) Grant {
	q := r.Question
	provider := q.To.ID
	if q.Kind == SelectApp {
		provider = choice
	}
	return Grant{
		ID: randomID(), User: user, Kind: q.Kind, Caller: q.From.ID, Provider: provider,
		Functionality: q.Functionality, Host: q.Host, Pin: q.Pin, Targets: q.targets(),
		Probe: q.Probe, Warned: warned(r.Assessment), Decision: lifetime, Created: time.Now().UTC(),
	}
}

// WouldGrant is the grant that an answer other than once would make, without id,
// user and time, so that a prompter can show the rule before it is stored.
// Choice is for [SelectApp].
func (r Request) WouldGrant(lifetime Decision, choice isc.AppID) Grant {
	g := grantFor("", r, choice, lifetime)
	g.ID, g.Created = "", time.Time{}
	return g
}

// randomID is 128 random bits in hex.
func randomID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails: crypto/rand ends the program instead
	return hex.EncodeToString(b[:])
}
