package permission

import (
	"context"
	"encoding/json"
	"time"

	"github.com/isolategpt/isolategpt/isc"
)

// ConsentPrompter asks a person. Its zero answer is a denial, and so is an
// error, a panic, a late answer, and an answer that does not echo the request.
//
// Prompt is never called for two requests of one user at once; requests of
// different users may come together. It must return when ctx ends. The request
// is a copy: changing it changes nothing.
//
// Source: paper §IV-C3, App. A-D.
type ConsentPrompter interface {
	Prompt(ctx context.Context, req Request) (Answer, error)
}

// PrompterFunc makes a [ConsentPrompter] of a function.
type PrompterFunc func(ctx context.Context, req Request) (Answer, error)

// Prompt calls f.
func (f PrompterFunc) Prompt(ctx context.Context, req Request) (Answer, error) { return f(ctx, req) }

// Kind says what is asked. The zero value is invalid.
type Kind uint8

// The kinds of question (design, consent page, section 1).
const (
	_            Kind = iota
	SelectApp         // which of several apps serves a planned functionality
	InstallApp        // may this app be installed
	ApprovePlan       // may this plan run, with the flows it shows
	ShareData         // may this data of the user go to this app
	Collaborate       // may this app's request go to another app
	Deliver           // may the answer go back into the asking app's context
	SendRemote        // may this app send data to this host
	Change            // may this app change something that the approved plan does not show
	Irreversible      // may this irreversible act happen, once
)

// Question is what a gate decides on. The hub fills it from its own tables and
// from canonical bytes; what an app wrote stands only in Purpose, in the names
// of parties, and in Payload.
type Question struct {
	Kind Kind
	// From is who wants it. The hub itself has an empty ID.
	From Party
	// To is who gets it.
	To            Party
	Functionality isc.FunctionalityName
	Effect        isc.Effect
	// Pin is the digest of the functionality of To as it is now (or of what
	// else was defined by an app). A grant given for another pin does not count.
	Pin isc.Digest
	// Payload is the canonical JSON of exactly what will be sent or done.
	Payload json.RawMessage
	// Label is the label of Payload and of what decided that it is sent.
	Label isc.Label
	// Fields tells what the hub knows of the single values in Payload.
	Fields []PayloadField
	// Closed says that every value in Payload is closed.
	Closed bool
	// Probe says that it is asked only to learn whether To serves it: Payload
	// stands for a request that does not exist yet. A permission for a probe is
	// none for a request, and the other way round.
	Probe bool
	// Plan says how this stands to the plan.
	Plan PlanState
	// Host is the remote host of SendRemote, in ASCII: a name, or "http://" and a
	// name, where nothing hides from others on the way what is sent.
	Host string
	// Purpose is the app's word for why.
	Purpose string
	// User is whose session it is. The gate fills it in.
	User string
	// Query is the user's request, word for word.
	Query string
	// Options are the candidates of SelectApp.
	Options []Party
	// Flows are what ApprovePlan shows.
	Flows []Flow
	// Degraded tells what the isolation of To lacks, as far as it is known, or is
	// empty.
	Degraded string
	// Warnings are codes that only the hub can know, such as FirstUse,
	// ManifestChanged, RuleOfTwo.
	Warnings []Code
}

// Party is one side of a question, from the hub's tables.
type Party struct {
	ID   isc.AppID
	Name string // display name: the app's word
}

// PayloadField is one value in a payload.
type PayloadField struct {
	Pointer string // JSON Pointer into Payload
	Label   isc.Label
	Role    isc.Role
	Closed  bool
}

// Flow is one step of a plan in words of the hub: which app does what with
// which data.
type Flow struct {
	Step          string
	App           Party
	Functionality isc.FunctionalityName
	Effect        isc.Effect
	Inputs        []FlowInput
}

// FlowInput is one argument and where it comes from.
type FlowInput struct {
	Name string
	// Literal is the value, where the plan states it.
	Literal json.RawMessage
	// Source is where it comes from otherwise: "s1 /fare", "memory travel.date".
	Source string
	Label  isc.Label
}

// PlanState says how a question stands to the run's plan. The zero value is
// outside of it.
type PlanState uint8

// The states.
const (
	NotInPlan    PlanState = iota
	InPlan                 // the plan expects it
	PlanApproved           // the user approved a plan that shows exactly this
)

// Request is a question on its way to a person. A [Gate] makes it; nobody else
// needs to.
type Request struct {
	ID     string
	Nonce  string
	Digest isc.Digest // over everything else in the request
	// Expires is when the gate stops waiting.
	Expires time.Time
	Question
	// Assessment is the hub's own, from trusted inputs only.
	Assessment []Finding
	// Offered are the answers that would be accepted, Deny always among them.
	Offered []Decision
	// WithheldBecause says why longer lifetimes are not offered, or is empty.
	WithheldBecause string
	// Index and Of place the request in the queue of its user: 2 of 5.
	Index, Of int
}

// Finding is one line of the assessment.
type Finding struct {
	Code   Code
	Reason string // the hub's words
	// Warning says that the finding speaks against allowing, so that nothing
	// permanent is offered. The others inform.
	Warning bool
}

// Code names a reason to warn.
type Code string

// The codes (design, consent page, section 2).
const (
	CodeNotInPlan           Code = "NotInPlan"
	CodeTargetNotFromUser   Code = "TargetNotFromUser"
	CodeSensitiveSource     Code = "SensitiveSource"
	CodeRuleOfTwo           Code = "RuleOfTwo"
	CodeHiddenCharacters    Code = "HiddenCharacters"
	CodeFirstUse            Code = "FirstUse"
	CodeManifestChanged     Code = "ManifestChanged"
	CodeRepeatedAfterDenial Code = "RepeatedAfterDenial"
	CodeNotShownInFull      Code = "NotShownInFull"
)
