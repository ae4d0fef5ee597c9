package planner

import (
	"context"
	"time"

	"github.com/isolategpt/isolategpt/isc"
)

// Planner makes plans. The hub validates whatever it returns.
type Planner interface {
	Plan(ctx context.Context, in Input) (*Plan, error)
}

// Func makes a [Planner] of a function.
type Func func(ctx context.Context, in Input) (*Plan, error)

// Plan calls f.
func (f Func) Plan(ctx context.Context, in Input) (*Plan, error) { return f(ctx, in) }

// Input is all that planning may see: the user's words, names, types, and text
// that the embedding program vouches for. No value that an app returned.
type Input struct {
	// Query is the request, word for word.
	Query string
	// Turns are the user's own recent requests, oldest first. They hold no
	// answer, since answers hold what apps said.
	Turns []string
	// Catalogue is what may be planned with.
	Catalogue *Catalogue
	// MemoryKeys are the names of what the hub remembers.
	MemoryKeys []string
	// Today is the hub's date and time zone.
	Today time.Time
	// Failed tells of an earlier plan of this run, for replanning: statuses and
	// closed values only.
	Failed []Outcome
}

// Outcome is how a step of an earlier plan ended.
type Outcome struct {
	Step          string
	Functionality string
	Status        isc.Status
}
