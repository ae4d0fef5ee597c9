package planner

import (
	"encoding/json"

	"github.com/isolategpt/isolategpt/isc"
)

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

// Value is where something comes from.
//
//sumtype:decl
type Value interface{ value() }

// Literal is JSON as it stands.
type Literal struct{ JSON json.RawMessage }

// Ref takes what a pointer selects from a step's result. In a pointer "*"
// stands for all elements of an array or values of a map; the result is then
// one flat array. With One it is that array's only element. Numbers in
// pointers are an error.
type Ref struct {
	Step    string `json:"step"`
	Pointer string `json:"pointer"`
	One     bool   `json:"one,omitempty"`
}

// Memory takes what the hub remembers under a key. The key "today" is the
// hub's date.
type Memory struct {
	Key string `json:"memory"`
}

// Item takes what a pointer selects from the current element of an Each.
type Item struct {
	Pointer string `json:"item"`
}

// Template joins parts to one string. Literal parts are strings.
type Template struct {
	Parts []Value `json:"template"`
}

// Object makes an object of values.
type Object struct {
	Fields map[string]Value `json:"object"`
}

// Array makes an array of values.
type Array []Value

func (Literal) value()  {}
func (Ref) value()      {}
func (Memory) value()   {}
func (Item) value()     {}
func (Template) value() {}
func (Object) value()   {}
func (Array) value()    {}

// Guard is a condition over closed values, evaluated by the operator.
//
//sumtype:decl
type Guard interface{ guard() }

// Compare compares two values. A comparison with an absent value is false.
type Compare struct {
	Op   Op
	A, B Value
}

// Present says whether a step has a result with something at the pointer.
type Present struct{ Ref Ref }

// And, Or and Not combine guards.
type (
	And struct{ Of []Guard }
	Or  struct{ Of []Guard }
	Not struct{ Of Guard }
)

func (Compare) guard() {}
func (Present) guard() {}
func (And) guard()     {}
func (Or) guard()      {}
func (Not) guard()     {}

// Op compares. The zero value is invalid.
type Op uint8

// The operators.
const (
	_ Op = iota
	EQ
	NE
	LT
	LE
	GT
	GE
	IN
)

// Shape is the small format of a decide's or ask's answer.
type Shape struct {
	Type ShapeType
	// Enum restricts a ShapeString.
	Enum []string
	// Format restricts a ShapeString: date, time, minute, email, iban, uri.
	Format string
	// Found: the string must occur word for word in an input. Checked by the
	// operator.
	Found bool
	// Pick: the model answers with an index into that array; the value is the
	// element.
	Pick *Ref
	// Items and MaxItems are of a ShapeArray.
	Items    *Shape
	MaxItems int
	// Fields are of a ShapeObject.
	Fields   map[string]Shape
	Nullable bool
}

// ShapeType is the type of a shape. The zero value is invalid.
type ShapeType uint8

// The types.
const (
	_ ShapeType = iota
	ShapeBoolean
	ShapeNumber
	ShapeInteger
	ShapeString
	ShapePick
	ShapeArray
	ShapeObject
)
