package spoke

import (
	"cmp"
	"context"
	"fmt"

	"github.com/isolategpt/isolategpt/internal/sandbox"
	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/memory"
)

// Launcher starts spokes in some isolation.
type Launcher interface {
	// Launch starts a spoke. The context governs the start only. Closing the
	// connection ends the spoke and waits for its end; nothing of it is left
	// afterwards.
	Launch(ctx context.Context, spec Spec) (*Instance, error)
}

// Prober is a [Launcher] that can say what its spokes run in before one is
// started.
type Prober interface {
	// Probe says what a spoke would run in that prefers nothing of its own, also
	// if that is less than what the launcher demands.
	Probe(ctx context.Context) (isc.Isolation, error)
}

var (
	_ Prober = inProcess{}
	_ Prober = (*ProcessLauncher)(nil)
)

// Spec is what a spoke is made of.
type Spec struct {
	// App is nil for a vanilla spoke.
	App App
	// LLM is the spoke's own model, reached through the host side. Nil: every
	// task that needs a model fails.
	LLM llm.LLM
	// Memory is the spoke's own scope. The zero View remembers nothing.
	Memory memory.View
	// HTTP is the spoke's way to remote hosts, reached through the host side and
	// only to the hosts that the app's manifest names. Nil: no host.
	HTTP Fetcher
	// Limits bound each task.
	Limits Limits
	// Require is what the spoke must have beyond what its launcher demands by
	// itself. If it is not shown to hold, nothing runs: an [*UnmetError].
	Require isc.Guarantees
	// Prefer is what it should have. Without it the spoke runs, and its isolation
	// says what it lacks.
	Prefer isc.Guarantees
}

// Limits bound one task of a spoke. Fields of zero or less mean the defaults.
type Limits struct {
	MaxTurns  int // model turns, default 12
	MaxCalls  int // own calls and requests to others, default 32
	MaxTokens int // model tokens, in and out, default 100,000
}

func (l Limits) orDefault() Limits {
	l.MaxTurns, l.MaxCalls, l.MaxTokens = max(l.MaxTurns, 0), max(l.MaxCalls, 0), max(l.MaxTokens, 0)
	return Limits{
		MaxTurns:  cmp.Or(l.MaxTurns, 12),
		MaxCalls:  cmp.Or(l.MaxCalls, 32),
		MaxTokens: cmp.Or(l.MaxTokens, 100_000),
	}
}

// forTask is l with what the task says; a task can lower a bound, never raise
// it above what the spoke was launched with.
func (l Limits) forTask(t isc.Task) Limits {
	l = l.orDefault()
	if t.MaxTurns > 0 {
		l.MaxTurns = min(l.MaxTurns, t.MaxTurns)
	}
	if t.MaxCalls > 0 {
		l.MaxCalls = min(l.MaxCalls, t.MaxCalls)
	}
	return l
}

// Instance is a running spoke.
type Instance struct {
	// Conn is the hub's end.
	Conn isc.HubConn
	// Isolation is what it runs in, as found out from inside it.
	Isolation isc.Isolation
}

// UnmetError says that a spoke was not started, because what it requires does not
// hold here.
type UnmetError struct {
	App isc.AppID // "" for a vanilla spoke
	// Isolation is what it would have run in.
	Isolation isc.Isolation
	// Missing is what it lacks of what is required.
	Missing isc.Guarantees
}

// Error names the app, what is missing, which layers could not be had, and
// which attempts to break out were not refused.
func (e *UnmetError) Error() string {
	s := fmt.Sprintf("spoke: app %q is not started: in isolation %q it would lack %s", e.App, e.Isolation.Name, e.Missing)
	for _, l := range e.Isolation.Layers {
		switch {
		case l.Applied:
		case l.Name == sandbox.Attempts:
			s += "; not refused: " + l.Detail
		default:
			s += fmt.Sprintf("; no %s: %s", l.Name, l.Detail)
		}
	}
	return s
}

// idOf is the app's id for an error, before its manifest was checked.
func idOf(a App) isc.AppID {
	m, _ := manifestOf(a)
	return m.ID
}

// manifestOf is a copy of the app's manifest, checked; of a vanilla spoke it is
// empty. An app that panics when it is asked has none.
func manifestOf(a App) (isc.Manifest, error) {
	if a == nil {
		return isc.Manifest{}, nil
	}
	m, err := contain(func() (isc.Manifest, error) { return a.Manifest().Clone(), nil })
	if err == nil {
		err = m.Validate()
	}
	if err != nil {
		return isc.Manifest{}, fmt.Errorf("spoke: manifest: %w", err)
	}
	return m, nil
}
