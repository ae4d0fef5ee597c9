package permission

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/isolategpt/isolategpt/isc"
)

// Validate says what is wrong with q, or nil. A [Run] denies a question that is
// not valid: unknown kinds, states, effects and roles; missing or malformed
// names; a payload that is not canonical JSON; text that is not UTF-8.
func (q Question) Validate() error {
	if !q.Kind.valid() {
		return fmt.Errorf("permission: question: unknown kind %d", uint8(q.Kind))
	}
	if q.Effect > isc.Read {
		return fmt.Errorf("permission: question: unknown effect %d", uint8(q.Effect))
	}
	if q.Plan > PlanApproved {
		return fmt.Errorf("permission: question: unknown plan state %d", uint8(q.Plan))
	}
	for _, check := range questionChecks {
		if err := check(&q); err != nil {
			return fmt.Errorf("permission: question: %s: %w", q.Kind, err)
		}
	}
	return nil
}

var questionChecks = []func(*Question) error{(*Question).checkParties, (*Question).checkNeeds, (*Question).checkPayload, (*Question).checkText}

func (q *Question) checkParties() error {
	for _, p := range []Party{q.From, q.To} {
		if p.ID == "" || p.ID == isc.Vanilla {
			continue
		}
		if err := p.ID.Validate(); err != nil {
			return err
		}
	}
	if q.Functionality != "" {
		if err := q.Functionality.Validate(); err != nil {
			return err
		}
	}
	var seen map[isc.AppID]bool
	if len(q.Options) > 0 {
		seen = make(map[isc.AppID]bool, len(q.Options))
	}
	for _, p := range q.Options {
		if err := p.ID.Validate(); err != nil {
			return fmt.Errorf("option: %w", err)
		}
		if seen[p.ID] {
			return fmt.Errorf("option %s is there twice", p.ID)
		}
		seen[p.ID] = true
	}
	return nil
}

// checkNeeds holds that a question of its kind says what it is about.
func (q *Question) checkNeeds() error {
	lacks := func(what string) error { return errors.New("has no " + what) }
	switch {
	case q.Kind == SelectApp && len(q.Options) == 0:
		return lacks("options")
	case q.Kind == SendRemote && q.Host == "":
		return lacks("host")
	case q.Kind == SendRemote && q.From.ID == "" && q.To.ID == "":
		return lacks("app")
	case (q.Kind == InstallApp || q.Kind == Collaborate || q.Kind == Irreversible) && q.To.ID == "":
		return lacks("receiver")
	case q.Kind == Collaborate && q.From.ID == "":
		return lacks("sender")
	case (q.Kind == Collaborate || q.Kind == Irreversible || q.Kind == Change) && q.Functionality == "":
		return lacks("functionality")
	case q.Kind.stepwise() && q.Kind != SendRemote && len(q.Payload) == 0:
		return lacks("payload")
	default:
		return nil
	}
}

func (q *Question) checkPayload() error {
	if len(q.Payload) > 0 {
		canonical, err := isc.Canonical(q.Payload)
		if err != nil {
			return fmt.Errorf("payload: %w", err)
		}
		if !bytes.Equal(canonical, q.Payload) {
			return errors.New("payload is not in canonical form")
		}
	}
	for _, f := range q.Fields {
		if f.Role < isc.Payload || f.Role > isc.Measure {
			return fmt.Errorf("field %s: unknown role %d", f.Pointer, uint8(f.Role))
		}
	}
	for _, flow := range q.Flows {
		if flow.Effect > isc.Read {
			return fmt.Errorf("flow %s: unknown effect %d", flow.Step, uint8(flow.Effect))
		}
		for _, in := range flow.Inputs {
			if len(in.Literal) == 0 {
				continue
			}
			if _, err := isc.Canonical(in.Literal); err != nil {
				return fmt.Errorf("flow %s: input %s: %w", flow.Step, in.Name, err)
			}
		}
	}
	return nil
}

// checkText holds that every text is UTF-8, since the digest is over UTF-8: two
// texts that differ only in broken bytes would have one digest.
func (q *Question) checkText() error {
	for i := range len(q.Host) {
		if c := q.Host[i]; c <= ' ' || c >= 0x7f {
			return errors.New("host is not in ASCII form")
		}
	}
	for s := range q.texts() {
		if !utf8.ValidString(s) {
			return errors.New("a text is not valid UTF-8")
		}
	}
	for _, c := range q.Warnings {
		if c == "" || strings.ContainsFunc(string(c), func(r rune) bool { return r < '!' || r > '~' }) {
			return fmt.Errorf("warning code %q is not a word", string(c))
		}
	}
	return nil
}
