package planner

import "github.com/isolategpt/isolategpt/isc"

// Plan is what is to be done: steps, and how to answer. It is data: nothing in
// it runs before [Plan.Validate] accepted it.
//
// Source: paper §IV-A2; design, planning page, section 1.
type Plan struct {
	Steps  []Step `json:"steps"`
	Answer Value  `json:"answer"`
	// Replan says how often the plan may be continued after a failure or an
	// open end.
	Replan int `json:"replan,omitempty"`
}

// Step is a node of a plan.
type Step struct {
	ID   string
	When Guard  // nil: always
	Do   Action // call, delegate, decide, where, best, ask
}

// Action is what a step does.
//
//sumtype:decl
type Action interface{ action() }

// Call uses one functionality. With Each it is used once for each element of an
// array, side by side.
type Call struct {
	// Functionality is the name of a catalogue entry.
	Functionality string
	// App is the provider, where the user named one; else empty.
	App  isc.AppID
	Args map[string]Value
	Each *Ref
	// AtMost bounds Each; beyond it the user is asked.
	AtMost int
}

// Delegate gives a sub-task to an app's agent, or, with no app, to a vanilla
// spoke.
type Delegate struct {
	App  isc.AppID
	Task string
	// Inputs are the data it gets.
	Inputs []Value
	// May lists the catalogue entries of others that it may ask for.
	May    []string
	AtMost int // bound on its calls
	// OpenEnded says that what is to be done stands only in the inputs.
	OpenEnded bool
}

// Decide asks a model without tools one typed question over data.
type Decide struct {
	Question string
	Inputs   []Value
	Answer   Shape
	// Spoke names a specialised vanilla spoke, or is empty.
	Spoke string
}

// Where selects from an array, without a model.
type Where struct {
	From  Ref
	Field string // pointer inside an element
	Op    Op     // eq, ne, lt, le, gt, ge, in
	Value Value  // a literal or a closed value
}

// Best selects the element of an array with the largest or smallest field.
type Best struct {
	From  Ref
	Field string
	Most  Extreme
}

// Ask puts a question to the user.
type Ask struct {
	Question Value // a template over closed values
	Answer   Shape
}

func (Call) action()     {}
func (Delegate) action() {}
func (Decide) action()   {}
func (Where) action()    {}
func (Best) action()     {}
func (Ask) action()      {}

// Extreme is an end of an order. The zero value is invalid.
type Extreme uint8

// The extremes.
const (
	_ Extreme = iota
	Largest
	Smallest
	Latest
	Earliest
)

var extremes = map[string]Extreme{"largest": Largest, "smallest": Smallest, "latest": Latest, "earliest": Earliest}

// String is the extreme as plans write it.
func (e Extreme) String() string { return nameOf(extremes, e) }
