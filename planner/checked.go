package planner

import (
	"encoding/json"
	"slices"

	"github.com/isolategpt/isolategpt/isc"
)

// Checked is a plan that [Plan.Validate] accepted, with what follows from it:
// in which order its steps go, what flows where, and what it changes. It is
// the only form of a plan that is executed. It is immutable; nothing outside
// this package can make one, and the zero value has no steps and no answer.
type Checked struct {
	plan    *Plan
	cat     *Catalogue
	keys    []string // of memory, as Validate was given them
	pos     map[string]int
	edges   []Edge
	after   [][]string // by position
	flows   []Flow
	from    []int                      // by position: where a step's flows begin
	bodies  map[string]json.RawMessage // by step: see Body
	mixed   map[string][]string
	notes   []Problem
	primary []isc.AppID
	others  []isc.AppID
}

// EdgeKind says why one step waits for another. The zero value is invalid.
type EdgeKind uint8

// The kinds of edge.
const (
	_          EdgeKind = iota
	EdgeData            // it uses the result
	EdgeGuard           // its guard looks at the result
	EdgeEffect          // one of them changes something of the other's app
)

// Edge says that step To waits for step From. Two steps may have several.
type Edge struct {
	From, To string
	Kind     EdgeKind
}

// Plan is a deep copy of what will be done, without the steps that were
// dropped or folded.
func (k *Checked) Plan() *Plan {
	if k == nil || k.plan == nil {
		return &Plan{}
	}
	return k.plan.clone()
}

// For says whether the plan was validated against exactly this catalogue and
// these memory keys, in this order, so that whoever gets a Checked from
// elsewhere need not validate it again. The nil and the zero Checked are for
// nothing.
func (k *Checked) For(c *Catalogue, memoryKeys []string) bool {
	return k != nil && k.plan != nil && k.cat == c && slices.Equal(k.keys, memoryKeys)
}

// Step is a deep copy of one step.
func (k *Checked) Step(id string) (Step, bool) {
	i, ok := k.at(id)
	if !ok {
		return Step{}, false
	}
	return (&copier{trusted: true}).oneStep(k.plan.Steps[i]), true
}

// Order is the steps' ids in an order in which they can be run one after
// another.
func (k *Checked) Order() []string {
	if k == nil || k.plan == nil {
		return nil
	}
	out := make([]string, len(k.plan.Steps))
	for i, s := range k.plan.Steps {
		out[i] = s.ID
	}
	return out
}

// After are the steps that a step waits for, in order. Steps that do not wait
// for one another may run side by side.
func (k *Checked) After(id string) []string {
	if i, ok := k.at(id); ok {
		return slices.Clone(k.after[i])
	}
	return nil
}

// Edges are all edges, sorted by the position of To, then From, then kind.
func (k *Checked) Edges() []Edge {
	if k == nil {
		return nil
	}
	return slices.Clone(k.edges)
}

// Entry is the catalogue entry that a call step uses.
func (k *Checked) Entry(id string) (Entry, bool) {
	i, ok := k.at(id)
	if !ok {
		return Entry{}, false
	}
	call, ok := k.plan.Steps[i].Do.(Call)
	if !ok {
		return Entry{}, false
	}
	return k.cat.Entry(call.Functionality)
}

// Body is the body of a call step whose every argument stands in the plan: the
// canonical bytes that [isc.Format.Check] of the format gave for them. Who sends
// it to an app that has that very format need not make and check it again.
func (k *Checked) Body(id string) (body json.RawMessage, format *isc.Format, ok bool) {
	i, ok := k.at(id)
	if !ok || k.bodies[id] == nil {
		return nil, nil, false
	}
	call, ok := k.plan.Steps[i].Do.(Call)
	if !ok {
		return nil, nil, false
	}
	e, ok := k.cat.entry(call.Functionality)
	return slices.Clone(k.bodies[id]), e.Request, ok
}

// Candidates are the apps that may carry out a call or delegate step: the one
// named, else every installed provider, sorted. None: nobody is installed, or
// it is a step of no app.
func (k *Checked) Candidates(id string) []isc.AppID {
	i, ok := k.at(id)
	if !ok {
		return nil
	}
	return slices.Clone(k.candidates(k.plan.Steps[i]))
}

// candidates is Candidates without the copy, for reading only.
func (k *Checked) candidates(s Step) []isc.AppID {
	switch a := s.Do.(type) {
	case Call:
		if a.App != "" {
			return []isc.AppID{a.App}
		}
		e, _ := k.cat.entry(a.Functionality)
		return e.Providers
	case Delegate:
		if a.App != "" {
			return []isc.AppID{a.App}
		}
	default: // any other steps of no app
	}
	return nil
}

// Changes are the steps that may change something outside the run, in order:
// calls that are no reads, and sub-tasks that are given functionalities.
func (k *Checked) Changes() []string {
	if k == nil || k.plan == nil {
		return nil
	}
	var out []string
	for _, s := range k.plan.Steps {
		if changes(s, k.cat) {
			out = append(out, s.ID)
		}
	}
	return out
}

// Primary are the apps, or candidates, of steps that give the answer or change
// something, sorted.
//
// Source: paper §IV-A2.
func (k *Checked) Primary() []isc.AppID {
	if k == nil {
		return nil
	}
	return slices.Clone(k.primary)
}

// Secondary are the apps, or candidates, that only supply data to other steps,
// sorted.
//
// Source: paper §IV-A2.
func (k *Checked) Secondary() []isc.AppID {
	if k == nil {
		return nil
	}
	return slices.Clone(k.others)
}

// Flows say what goes into each argument and input of each step that hands
// data to an app or a model, in the plan's order.
func (k *Checked) Flows() []Flow {
	if k == nil {
		return nil
	}
	out := make([]Flow, len(k.flows))
	for i, f := range k.flows {
		out[i] = f.clone()
	}
	return out
}

// FlowsOf are those of [Checked.Flows] that go into one step, in their order.
func (k *Checked) FlowsOf(id string) []Flow {
	i, ok := k.at(id)
	if !ok {
		return nil
	}
	end := len(k.flows)
	if i+1 < len(k.from) {
		end = k.from[i+1]
	}
	var out []Flow
	for _, f := range k.flows[k.from[i]:end] {
		out = append(out, f.clone())
	}
	return out
}

// Mixed are the steps whose free text meets in the context of a decide or
// delegate, if that is of more than one app; else none. Such a step needs a
// consent of its own.
func (k *Checked) Mixed(id string) []string {
	if k == nil {
		return nil
	}
	return slices.Clone(k.mixed[id])
}

// Notes tell what validation left out and what should be known: codes
// [NoteDropped], [NoteFolded] and [NoteMixed].
func (k *Checked) Notes() []Problem {
	if k == nil {
		return nil
	}
	return slices.Clone(k.notes)
}

func (k *Checked) at(id string) (int, bool) {
	if k == nil {
		return 0, false
	}
	i, ok := k.pos[id]
	return i, ok
}
