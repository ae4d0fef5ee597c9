package hub

import (
	"encoding/json"

	"github.com/isolategpt/isolategpt/isc"
)

// Answer ends a run.
type Answer struct {
	// Text is for the person: the plan's template with closed values in place
	// and free text of apps as attributed blocks.
	Text string
	// Refused says that nothing was done, because it could not be planned or was
	// not allowed. Text says why. A run in which steps failed is no refusal.
	Refused bool
	// Facts are the values that apps returned and the answer shows, byte for
	// byte, each with who returned it. A text that a model joined can be
	// checked against them.
	Facts []Fact
	// Blocks are the free texts in Text, each with who wrote it.
	Blocks []Block
	// Missing are the data that nobody gave, by name or question. A follow-up
	// request may bring them.
	Missing []string
	// Steps tell how each step ended, in the plan's order.
	Steps []StepOutcome
	Usage Usage
	// Label joins the labels of everything in Text.
	Label isc.Label
}

// Fact is one value of an app in an answer.
type Fact struct {
	App           isc.AppID             `json:"app"`
	Functionality isc.FunctionalityName `json:"functionality"`
	Step          string                `json:"step"`
	Pointer       string                `json:"pointer"`
	Value         json.RawMessage       `json:"value"`
}

// Block is free text in an answer.
type Block struct {
	// Sources are who may have written it: apps, or a model that read them.
	Sources []isc.Source
	Text    string
}

// StepOutcome is how a step ended.
type StepOutcome struct {
	Step          string                `json:"step"`
	App           isc.AppID             `json:"app,omitempty"`
	Functionality isc.FunctionalityName `json:"functionality,omitempty"`
	Status        isc.Status            `json:"status"`
	// Reason is the hub's own words: who denied, or what did not fit. It holds
	// nothing that an app wrote.
	Reason string `json:"reason,omitempty"`
	// Err is what the step failed with, for programs: a [*LaunchError], a
	// [*LostError], a [*CrashLoopError], an error that wraps [ErrBudget] or
	// [ErrPanic], or nil. Do not show it: it may hold what an app said.
	Err error `json:"-"`
}
