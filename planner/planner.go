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

// Catalogue is the set of functionalities and apps known to the hub. It is
// immutable.
type Catalogue struct {
	entries []Entry
	apps    []App
	spokes  []Vanilla
}

// Entry is a functionality as it may be planned with.
type Entry struct {
	// Name is what a plan writes. It is the functionality's name, or
	// "app/functionality" where apps disagree about its formats or effect.
	Name          string
	Functionality isc.FunctionalityName
	// Providers are the installed apps that serve it, sorted. None: known, not
	// installed.
	Providers []isc.AppID
	Request   *isc.Format
	Response  *isc.Format
	Effect    isc.Effect
	// Description is vouched for, or empty.
	Description string
	// Claims are the third-party descriptions by provider. They are seen by a
	// pairwise match about that provider alone, and by nothing else.
	Claims map[isc.AppID]string
}

// App is an installed app as it may be delegated to.
type App struct {
	ID isc.AppID
	// Name is the display name, if vouched for, else empty.
	Name string
	// Description is vouched for, or empty.
	Description string
	// Claim is the third-party description, for a pairwise match alone.
	Claim string
	// Entries are the names of its entries, sorted.
	Entries []string
	// Agent says that it has instructions, so that sub-tasks can be delegated
	// to it.
	Agent bool
}

// Vanilla is a specialised vanilla spoke of the embedding program.
type Vanilla struct {
	Name        string
	Description string
}
