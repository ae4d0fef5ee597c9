package permission

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/isolategpt/isolategpt/isc"
)

// shownLabelled is a value of the request beside its label, in the one form
// that the digest is over.
type shownLabelled struct {
	Value json.RawMessage `json:"value,omitempty"`
	Text  string          `json:"text,omitempty"`
	Label string          `json:"label"`
}

type shownFlow struct {
	Step          string                     `json:"step"`
	App           Party                      `json:"app"`
	Functionality isc.FunctionalityName      `json:"functionality"`
	Effect        uint8                      `json:"effect"`
	Inputs        []map[string]shownLabelled `json:"inputs"`
}

type shownField struct {
	Pointer string `json:"pointer"`
	Label   string `json:"label"`
	Role    uint8  `json:"role"`
	Closed  bool   `json:"closed"`
}

// shownRequest is everything in a request but its digest. Every field of
// Request and Question has its place here; a test holds that.
type shownRequest struct {
	ID              string                `json:"id"`
	Nonce           string                `json:"nonce"`
	Expires         string                `json:"expires"`
	Assessment      []Finding             `json:"assessment"`
	Offered         []Decision            `json:"offered"`
	WithheldBecause string                `json:"withheld"`
	Index           int                   `json:"index"`
	Of              int                   `json:"of"`
	Kind            Kind                  `json:"kind"`
	From            Party                 `json:"from"`
	To              Party                 `json:"to"`
	Functionality   isc.FunctionalityName `json:"functionality"`
	Effect          uint8                 `json:"effect"`
	Pin             string                `json:"pin"`
	Payload         string                `json:"payload"`
	Label           string                `json:"label"`
	Fields          []shownField          `json:"fields"`
	Closed          bool                  `json:"closed"`
	Probe           bool                  `json:"probe"`
	Plan            uint8                 `json:"plan"`
	Host            string                `json:"host"`
	Purpose         string                `json:"purpose"`
	User            string                `json:"user"`
	Query           string                `json:"query"`
	Options         []Party               `json:"options"`
	Flows           []shownFlow           `json:"flows"`
	Degraded        string                `json:"degraded"`
	Warnings        []Code                `json:"warnings"`
}

// digestOf is the digest of everything in r but the digest.
func digestOf(r Request) (isc.Digest, error) {
	q := r.Question
	raw, err := json.Marshal(shownRequest{
		ID: r.ID, Nonce: r.Nonce, Expires: r.Expires.UTC().Format(time.RFC3339Nano),
		Assessment: r.Assessment, Offered: r.Offered, WithheldBecause: r.WithheldBecause,
		Index: r.Index, Of: r.Of,
		Kind: q.Kind, From: q.From, To: q.To, Functionality: q.Functionality, Effect: uint8(q.Effect),
		Pin: q.Pin.String(), Payload: string(q.Payload), Label: q.Label.String(),
		Fields: shownFields(q.Fields), Closed: q.Closed, Probe: q.Probe, Plan: uint8(q.Plan), Host: q.Host,
		Purpose: q.Purpose, User: q.User, Query: q.Query, Options: q.Options, Flows: shownFlows(q.Flows),
		Degraded: q.Degraded, Warnings: q.Warnings,
	})
	if err != nil {
		return isc.Digest{}, err
	}
	return isc.DigestOf(raw), nil
}

func shownFields(fields []PayloadField) []shownField {
	out := make([]shownField, len(fields))
	for i, f := range fields {
		out[i] = shownField{Pointer: f.Pointer, Label: f.Label.String(), Role: uint8(f.Role), Closed: f.Closed}
	}
	return out
}

func shownFlows(flows []Flow) []shownFlow {
	out := make([]shownFlow, len(flows))
	for i, f := range flows {
		out[i] = shownFlow{Step: f.Step, App: f.App, Functionality: f.Functionality, Effect: uint8(f.Effect)}
		for _, in := range f.Inputs {
			shown := shownLabelled{Value: in.Literal, Text: in.Source, Label: in.Label.String()}
			out[i].Inputs = append(out[i].Inputs, map[string]shownLabelled{in.Name: shown})
		}
	}
	return out
}

// identity is what makes two questions the same act. An app's words, such as
// the purpose and display names, are no part of it: rewording is not a way to be
// asked again.
func (q Question) identity() isc.Digest {
	options := make([]isc.AppID, len(q.Options))
	for i, p := range q.Options {
		options[i] = p.ID
	}
	slices.Sort(options)
	raw, err := json.Marshal(struct {
		Kind          Kind
		Probe         bool
		From, To      isc.AppID
		Functionality isc.FunctionalityName
		Pin           string
		Payload       string
		Host          string
		Options       []isc.AppID
		Flows         []shownFlow
	}{q.Kind, q.Probe, q.From.ID, q.To.ID, q.Functionality, q.Pin.String(), string(q.Payload), q.Host, options, shownFlows(q.Flows)})
	if err != nil {
		return isc.Digest{} // not reached for a valid question; equal to itself all the same
	}
	return isc.DigestOf(raw)
}

// act is identity without the payload: who wants what of whom.
type act struct {
	kind          Kind
	probe         bool
	from, to      isc.AppID
	functionality isc.FunctionalityName
	host          string
}

func (q Question) act() act { return act{q.Kind, q.Probe, q.From.ID, q.To.ID, q.Functionality, q.Host} }
