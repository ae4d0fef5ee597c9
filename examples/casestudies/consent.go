package main

import (
	"context"
	"fmt"

	"github.com/isolategpt/isolategpt/permission"
)

// consent says who answers dialogs.
type consent string

const (
	consentDeny  consent = "deny"
	consentAllow consent = "allow"
	consentAsk   consent = "ask"
)

// MarshalText is what UnmarshalText reads.
func (c consent) MarshalText() ([]byte, error) { return []byte(c), nil }

// UnmarshalText reads deny, allow or ask.
func (c *consent) UnmarshalText(text []byte) error {
	switch v := consent(text); v {
	case consentDeny, consentAllow, consentAsk:
		*c = v
		return nil
	default:
		return fmt.Errorf("%q is none of deny, allow, ask", text)
	}
}

// careful is the person of the paper's evaluation: she lets the system do what
// she asked for and refuses every sharing of data, every collaboration and every
// act that her request did not name.
//
// Source: paper, artifact appendix ("they reject the data access and app
// collaboration requests").
func careful(_ context.Context, r permission.Request) (permission.Answer, error) {
	switch r.Kind {
	case permission.ApprovePlan:
		return r.Answer(permission.AllowOnce), nil
	case permission.SelectApp:
		return choose(r), nil
	default:
		return r.Answer(permission.Deny), nil
	}
}

// trusting agrees to everything.
func trusting(_ context.Context, r permission.Request) (permission.Answer, error) {
	return choose(r), nil
}

// choose agrees, to the first app where there is a choice.
func choose(r permission.Request) permission.Answer {
	answer := r.Answer(permission.AllowOnce)
	if len(r.Options) > 0 {
		answer.Choice = r.Options[0].ID
	}
	return answer
}
