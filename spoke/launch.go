package spoke

import (
	"context"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/memory"
)

// Launcher starts spokes in some isolation.
type Launcher interface {
	// Launch starts a spoke. Closing the connection ends it and waits for its
	// end; nothing of it is left afterwards.
	Launch(ctx context.Context, spec Spec) (*Instance, error)
}

// Spec is what a spoke is made of.
type Spec struct {
	// App is nil for a vanilla spoke.
	App App
	// LLM is the spoke's own model, reached through the host side.
	LLM llm.LLM
	// Memory is the spoke's own scope. The zero View remembers nothing.
	Memory memory.View
	// Limits bound each task.
	Limits Limits
}

// Limits bound one task of a spoke. Zero fields mean the defaults.
type Limits struct {
	MaxTurns  int // model turns, default 12
	MaxCalls  int // own calls and requests to others, default 32
	MaxTokens int // model tokens, in and out, default 100,000
}

// Instance is a running spoke.
type Instance struct {
	// Conn is the hub's end.
	Conn isc.HubConn
	// Isolation names what it runs in: "in-process", "process".
	Isolation string
	// Isolates says in words what that keeps apart, for dialogs and reports.
	Isolates string
}
