package isc

import "encoding/json"

// ToHub is what a spoke may say. No message names its sender: the hub knows who
// speaks because it launched that spoke and holds that connection.
//
// Source: paper §IV-C2, App. A-B; design, section 5.
//
//sumtype:decl
type ToHub interface{ toHub() }

// ToSpoke is what the hub may say. Only a [Task] comes unasked; everything else
// is the one reply to one message up.
//
//sumtype:decl
type ToSpoke interface{ toSpoke() }

// Probe asks whether the hub would serve a functionality of some other app
// (paper §IV-C4, step 1). The reply is [Offer] or [Refused].
type Probe struct {
	Functionality FunctionalityName `json:"functionality"`
}

// Request uses handles that earlier offers gave (steps 3 to 6). The calls of a
// batch are served side by side. The reply is [Response] or [Refused].
type Request struct {
	Calls []Call `json:"calls"`
}

// Call is one use of an offered functionality.
type Call struct {
	Handle Handle          `json:"handle"`
	Body   json.RawMessage `json:"body"`
}

// NeedData asks for data of the user by name (paper §IV-B5, steps 2 to 4). The
// reply is [Data] or [Refused].
type NeedData struct {
	Fields []DataField `json:"fields"`
}

// DataField is one thing that a spoke wants to know. Purpose is the app's word.
type DataField struct {
	Name    string `json:"name"`
	Purpose string `json:"purpose"`
}

// Confirm asks before an action of the app's own that changes something. The
// reply is [Confirmed] or [Refused].
type Confirm struct {
	Functionality FunctionalityName `json:"functionality"`
	Body          json.RawMessage   `json:"body"`
}

// Progress is for the user's eyes only. It has no reply.
type Progress struct {
	Text string `json:"text"`
}

// Result ends a task. Body is there exactly when Status is [StatusDone]. It has
// no reply.
type Result struct {
	Status Status          `json:"status"`
	Body   json.RawMessage `json:"body,omitempty"`
}

// Task starts work. What its fields mean depends on Kind.
type Task struct {
	Kind TaskKind `json:"kind"`
	// Functionality and Body are for a TaskCall: the handler to run, and a body
	// that fits its request format.
	Functionality FunctionalityName `json:"functionality,omitempty"`
	Body          json.RawMessage   `json:"body,omitempty"`
	// Text is the sub-task of a TaskDelegate or the question of a TaskDecide.
	Text string `json:"text,omitempty"`
	// Data is what the hub gives along, each with a name for the prompt.
	Data []Datum `json:"data,omitempty"`
	// May lists what a delegated task may ask of other apps. Offer decides.
	May []Known `json:"may,omitempty"`
	// Answer is the format (a JSON Schema) that Result.Body must fit for
	// TaskDelegate and TaskDecide.
	Answer json.RawMessage `json:"answer,omitempty"`
	// MaxTurns bounds the model turns of the task, MaxCalls its own calls and
	// requests. Zero means the spoke's defaults.
	MaxTurns int `json:"max_turns,omitempty"`
	MaxCalls int `json:"max_calls,omitempty"`
	// Private tells the spoke to read and write no memory.
	Private bool `json:"private,omitempty"`
}

// Datum is a named value given to a spoke.
type Datum struct {
	Name string          `json:"name"`
	Body json.RawMessage `json:"body"`
}

// Known is a functionality of the catalogue as spokes are shown it. It does not
// say who serves it, or whether anyone does.
type Known struct {
	Functionality FunctionalityName `json:"functionality"`
	Description   string            `json:"description,omitempty"`
	Request       json.RawMessage   `json:"request"`
	Response      json.RawMessage   `json:"response"`
}

// Offer answers a [Probe] (step 2): how to ask, and what will come back.
type Offer struct {
	Handle   Handle          `json:"handle"`
	Request  json.RawMessage `json:"request"`
	Response json.RawMessage `json:"response"`
}

// Response answers a [Request], one reply a call and in its order. A call that
// was denied, failed, or had nobody to serve it has a null body: they look the
// same.
type Response struct {
	Bodies []json.RawMessage `json:"bodies"`
}

// Data answers [NeedData]. Fields that were not given are absent.
type Data struct {
	Values []Datum `json:"values"`
}

// Confirmed answers [Confirm]: exactly this body may be acted on, once.
type Confirmed struct {
	Digest Digest `json:"digest"`
}

// Refused is the one answer to everything that will not be: not installed,
// denied, malformed and failed are the same bytes.
type Refused struct{}

func (Probe) toHub()    {}
func (Request) toHub()  {}
func (NeedData) toHub() {}
func (Confirm) toHub()  {}
func (Progress) toHub() {}
func (Result) toHub()   {}

func (Task) toSpoke()      {}
func (Offer) toSpoke()     {}
func (Response) toSpoke()  {}
func (Data) toSpoke()      {}
func (Confirmed) toSpoke() {}
func (Refused) toSpoke()   {}

// TaskKind says what a spoke is to do. The zero value is invalid.
type TaskKind uint8

// The kinds of task.
const (
	_            TaskKind = iota
	TaskCall              // run one handler; no model takes part unless the functionality is served by the agent
	TaskDelegate          // the agent works on Text with the app's functionalities
	TaskDecide            // the model answers Text over Data under Answer; it has no functionality at all
)

// Status says how a task or step ended. It is a closed value: planning may see
// it. The zero value is invalid.
type Status uint8

// The ways a task ends.
const (
	_             Status = iota
	StatusDone           // there is a body
	StatusFailed         // the app's handler or model failed
	StatusRefused        // something it needed was refused
	StatusBudget         // out of turns, calls, tokens or time
	StatusMissing        // data that nobody gave
	StatusSkipped        // it was not to be done, or what it works on is absent; no spoke says this
)
