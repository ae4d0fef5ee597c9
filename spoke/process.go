package spoke

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/isolategpt/isolategpt/isc"
)

// ProcessConfig says how patient [Process] is. Zero fields mean the defaults.
type ProcessConfig struct {
	// StartTimeout bounds the start, until the process has said that it is the
	// spoke it was started for. Default 10 seconds.
	StartTimeout time.Duration
	// Grace is waited at each rung when a process ends: after its connections
	// were closed, after SIGTERM, after SIGKILL. Default 2 seconds.
	Grace time.Duration
}

func (c ProcessConfig) orDefault() ProcessConfig {
	c.StartTimeout = cmp.Or(max(c.StartTimeout, 0), 10*time.Second)
	c.Grace = cmp.Or(max(c.Grace, 0), 2*time.Second)
	return c
}

// Process starts each spoke as a process of its own: this program, executed
// once more, with an empty environment, no arguments, and two inherited
// connections, one to the hub and one to its host side in this process. Through
// the second it reaches its model and its memory, metered; no key is inside.
// main must call [Main] first, with all apps.
//
// It keeps address spaces, environments and crashes apart and can end a spoke
// by force. It confines nothing yet: the process has this user's files and
// network.
//
// The process leads its own group and, on Linux, dies with this one. Closing
// the connection closes both of its connections, waits, sends SIGTERM, waits,
// sends SIGKILL to the group, and waits; a process that ends by itself ends
// Recv with a [*ProcessError].
//
// On systems without Unix processes Launch gives [errors.ErrUnsupported].
//
// Source: paper §IV-A, App. A-A.
func Process(cfg ProcessConfig) Launcher { return processLauncher{cfg.orDefault()} }

type processLauncher struct{ cfg ProcessConfig }

func (l processLauncher) Launch(ctx context.Context, spec Spec) (*Instance, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return l.launch(ctx, spec)
}

// ProcessError says that the process of a spoke ended without being asked to.
type ProcessError struct {
	App isc.AppID // "" for a vanilla spoke
	// State says how it ended: "exit status 2", "signal: killed".
	State string
	// Output is the end of what it wrote to standard output and error, at most
	// 16 KiB. It is the app's text, not to be trusted, and no part of Error.
	Output string
	// Err is what the connection saw.
	Err error
}

// Error names the app and the state.
func (e *ProcessError) Error() string {
	return fmt.Sprintf("spoke: the process of app %q ended: %s", e.App, e.State)
}

// Unwrap gives what the connection saw.
func (e *ProcessError) Unwrap() error { return e.Err }

// marker is the one variable in the environment of a spoke's process, from its
// start until Main has seen it.
const marker = "ISOLATEGPT_SPOKE"

// The descriptors that a spoke's process inherits.
const (
	hubFD  = 3
	hostFD = 4
)
