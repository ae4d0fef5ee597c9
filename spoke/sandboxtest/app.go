package sandboxtest

import (
	"context"
	"errors"
	"fmt"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
)

// appID is the app's id.
const appID = "sandboxtest"

// The functionalities.
const (
	attackRun    = "attack.run"
	victimHold   = "victim.hold"
	victimReport = "victim.report"
)

// order says what to try.
type order struct {
	Name    string  `json:"name"`
	Targets targets `json:"targets"`
}

// outcome is what came of it, as seen from inside.
type outcome struct {
	Outcome string `json:"outcome" isolate:"enum=refused|worked|absent"`
	Detail  string `json:"detail"` // the name of an errno, or words
}

const (
	refused = "refused"
	worked  = "worked"
	absent  = "absent" // there was nothing to try it on
)

// victim is what another process has to be attacked.
type victim struct {
	PID     int    `json:"pid"`
	Address string `json:"address"` // hexadecimal, readable
	Signals int    `json:"signals"` // that arrived
}

// nothing is a request without content.
type nothing struct{}

// App tries to break out, one [Attack] a call. A program that is launched for
// attacks passes it to [spoke.Main], or calls [Main].
func App() spoke.App {
	held := &holder{}
	app, err := spoke.New(
		isc.Manifest{ID: appID, Name: "Sandbox test", Description: "Tries to break out of its spoke."},
		spoke.Func(attackRun, func(_ context.Context, o order) (outcome, error) { return perform(o) },
			spoke.Reads(), spoke.Describe("tries one attack")),
		spoke.Func(victimHold, func(context.Context, nothing) (victim, error) { return held.hold() },
			spoke.Reads(), spoke.Describe("begins to count signals and says where to attack it")),
		spoke.Func(victimReport, func(context.Context, nothing) (victim, error) { return held.report() },
			spoke.Reads(), spoke.Describe("says how many signals came")),
	)
	if err != nil {
		panic(err) // these formats are constant
	}
	return app
}

// Main is [spoke.Main] with [App] and apps; besides, it lets [Unconfined] start
// the program. It must be called first in main.
func Main(apps ...spoke.App) {
	serveUnconfined()
	spoke.Main(append([]spoke.App{App()}, apps...)...)
}

// canary is the order that shows that a spoke serves at all.
const canary = "none"

// errAbsent is what an attack gives that has no target.
var errAbsent = errors.New("no target")

func perform(o order) (outcome, error) {
	if o.Name == canary {
		return outcome{Outcome: worked}, nil
	}
	a, ok := attackNamed(o.Name)
	if !ok {
		return outcome{}, fmt.Errorf("sandboxtest: attack %q: %w", o.Name, errors.ErrUnsupported)
	}
	switch err := a.try(o.Targets); {
	case err == nil:
		return outcome{Outcome: worked}, nil
	case errors.Is(err, errAbsent):
		return outcome{Outcome: absent, Detail: err.Error()}, nil
	default:
		return outcome{Outcome: refused, Detail: reason(err)}, nil
	}
}

func attackNamed(name string) (attack, bool) {
	for _, a := range attacks() {
		if a.Name == name {
			return a, true
		}
	}
	return attack{}, false
}
