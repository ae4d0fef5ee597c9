package hub

import (
	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/permission"
	"github.com/isolategpt/isolategpt/planner"
)

// Event tells what a run does. Events inform; they never steer.
//
//sumtype:decl
type Event interface{ event() }

// Planned says that a plan was made and accepted.
type Planned struct {
	Plan *planner.Plan
	// Primary are the apps that give the answer or change something, Secondary
	// those that only supply data to others; both may name candidates.
	Primary, Secondary []isc.AppID
	// Warnings are what validation found worth saying, such as a step that was
	// dropped because nothing used it.
	Warnings []planner.Problem
}

// Asked says that a person is being asked now.
type Asked struct{ Request permission.Request }

// Decided says how something was decided, whether or not a person was asked.
type Decided struct {
	Question permission.Question
	Verdict  permission.Verdict
}

// Launched says that a spoke was started.
type Launched struct {
	App isc.AppID // empty: a vanilla spoke
	// Isolation is what it really has, as found out from inside it.
	Isolation isc.Isolation
}

// Installed says that an app was installed on demand.
type Installed struct{ App isc.AppID }

// StepStarted says that a step runs.
type StepStarted struct {
	Step          string
	App           isc.AppID
	Functionality isc.FunctionalityName
}

// StepEnded says how a step ended.
type StepEnded struct{ Outcome StepOutcome }

// Collaborated says that a request of one app was served by another.
type Collaborated struct {
	From, To      isc.AppID
	Functionality isc.FunctionalityName
	Status        isc.Status
}

// Fetched says that a request of an app to a remote host was sent, and how that
// ended. What was not let out is told by [Decided] and [Dropped].
type Fetched struct {
	App    isc.AppID
	Host   string // as it was asked about
	Status int    // of the answer; 0 if there is none
	Size   int    // of the answer's body, in bytes
}

// Progress is a line that an app shows to the user: the app's word.
type Progress struct {
	App  isc.AppID
	Text string
}

// Dropped says that a message of a spoke was not understood or not legal, and
// was answered like every refusal.
type Dropped struct {
	App    isc.AppID
	Reason string // the hub's words
}

// Answered is the last event of a run.
type Answered struct{ Answer Answer }

func (Planned) event()      {}
func (Asked) event()        {}
func (Decided) event()      {}
func (Launched) event()     {}
func (Installed) event()    {}
func (StepStarted) event()  {}
func (StepEnded) event()    {}
func (Collaborated) event() {}
func (Fetched) event()      {}
func (Progress) event()     {}
func (Dropped) event()      {}
func (Answered) event()     {}
