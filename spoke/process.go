package spoke

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/isolategpt/isolategpt/internal/meter"
	"github.com/isolategpt/isolategpt/isc"
)

// ProcessConfig says what processes [Process] starts and how patient it is. Zero
// fields mean the defaults.
type ProcessConfig struct {
	// Program is the file of a separate program that the spokes are: a Go program
	// that is linked statically (CGO_ENABLED=0) and calls [Main] first in main.
	// None of its code runs in this program or before the process is confined.
	// Empty: spokes are this program, executed once more.
	Program string
	// Memory bounds what a spoke holds beyond what a bare one does, in bytes. An
	// allocation beyond it fails, and what goes around that is killed
	// ([ErrMemory]): this program looks every 2 to 20 ms at what a spoke with a
	// task holds, page tables included, and down to every 250 ms at one without, so
	// that it may have more for as long. Killed are a spoke with more than 512
	// threads, likewise ([ErrThreads]), and one whose first thread ends before the
	// others, since nobody could see then what it holds. Default 256 MiB.
	Memory int64
	// Warm is how many processes are kept ready, confined but not assigned. Each
	// serves one app in one session and is never used again. They are started from
	// the first Launch or Probe on.
	Warm int
	// Waive names the guarantees that spokes may lack. Waiving one lowers what is
	// required; what holds nevertheless holds. Waiving all of [isc.FullIsolation]
	// is the one way to ask for processes that are not confined at all.
	Waive isc.Guarantees
	// StartTimeout bounds the start, until the process has said that it is the
	// spoke it was started for. Default 10 seconds.
	StartTimeout time.Duration
	// Grace is waited at each rung when a process ends: after its connections
	// were closed, after SIGTERM, after SIGKILL. Default 2 seconds.
	Grace time.Duration
	// Logger gets one warning a launcher when spokes lack what is preferred. Nil:
	// nobody.
	Logger *slog.Logger
}

func (c ProcessConfig) orDefault() ProcessConfig {
	c.Memory = cmp.Or(max(c.Memory, 0), 256<<20)
	c.Warm = max(c.Warm, 0)
	c.StartTimeout = cmp.Or(max(c.StartTimeout, 0), 10*time.Second)
	c.Grace = cmp.Or(max(c.Grace, 0), 2*time.Second)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// Process starts each spoke as a process of its own: this program, executed
// once more, with an empty environment, no arguments, and two inherited
// connections, one to the hub and one to its host side in this process. Through
// the second it reaches its model, its memory and its remote hosts, metered; no
// key is inside. main must call [Main] first, with all apps.
//
// Before it learns which app it is, the process gives up, for good, the network,
// all files, other programs and other processes, bounds its memory, and then
// tries to break each of these from inside. What failed as it should is what its
// [Instance] says it has. For memory that is not enough: it is had only if this
// program, too, sees what the process holds, and ends it above its bound. That
// such a sight is true is tried once, with a child that holds memory on purpose. All of [isc.FullIsolation] is required, but for what
// [ProcessConfig.Waive] names: otherwise the process is ended and Launch gives an
// [*UnmetError]. [isc.DefenceInDepth] is preferred. Only Linux has the means. Elsewhere
// nothing but [isc.CrashIsolation] holds, and Launch gives an [*UnmetError] unless all
// of the rest is waived; without Unix processes it gives [errors.ErrUnsupported].
//
// Code that is compiled into this program has run in it already, by its package
// initialisation, before any of this. Go code that may be an attacker's belongs
// into a [ProcessConfig.Program] of its own.
//
// The process leads its own group and, on Linux, dies with this one. Closing
// the connection closes both of its connections, waits, sends SIGTERM, waits,
// sends SIGKILL to the group, and waits; a process that ends by itself, or is
// stopped by a signal, is ended at once and ends Recv with a [*ProcessError].
//
// Source: paper §IV-A, App. A-A. docs/adr/0010-guarantees.md.
func Process(cfg ProcessConfig) *ProcessLauncher {
	return &ProcessLauncher{cfg: cfg.orDefault()}
}

// Launch implements [Launcher].
func (l *ProcessLauncher) Launch(ctx context.Context, spec Spec) (*Instance, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return l.launch(ctx, spec)
}

// Probe implements [Prober]: it starts a process without an app, and ends it.
func (l *ProcessLauncher) Probe(ctx context.Context) (isc.Isolation, error) {
	if err := context.Cause(ctx); err != nil {
		return isc.Isolation{}, err
	}
	return l.probe(ctx)
}

// required is what a spoke must have, beyond what its spec says.
func (l *ProcessLauncher) required() isc.Guarantees { return isc.FullIsolation.Without(l.cfg.Waive) }

// unconfined says whether processes are not even to try.
func (l *ProcessLauncher) unconfined() bool { return l.cfg.Waive.Has(isc.FullIsolation) }

// complete says what of the preferred an isolation lacks, and warns of it once.
func (l *ProcessLauncher) complete(i isc.Isolation, prefer isc.Guarantees) isc.Isolation {
	i.Name = "process"
	i = i.Preferring(prefer)
	if unasked := i.Lacks.Without(l.cfg.Waive); unasked != 0 {
		l.warned.Do(func() {
			l.cfg.Logger.Warn("spokes lack what is preferred", "isolation", i.Name, "lacks", unasked.String(), "missing", missingLayers(i))
		})
	}
	return i
}

func missingLayers(i isc.Isolation) []string {
	var out []string
	for _, l := range i.Layers {
		if !l.Applied {
			out = append(out, l.Name+": "+l.Detail)
		}
	}
	return out
}

// ProcessError says that the process of a spoke ended without being asked to.
type ProcessError struct {
	App isc.AppID // "" for a vanilla spoke
	// State says how it ended: "exit status 2", "signal: killed", "stopped, then
	// signal: killed".
	State string
	// Output is the end of what it wrote to standard output and error, at most
	// 16 KiB. It is the app's text, not to be trusted, and no part of Error.
	Output string
	// Err is what the connection saw, and why the process was killed.
	Err error
}

// Error names the app and the state, and the bound that it did not keep.
func (e *ProcessError) Error() string {
	text := fmt.Sprintf("spoke: the process of app %q ended: %s", e.App, e.State)
	for _, why := range []error{ErrMemory, ErrThreads, meter.ErrUnseen} {
		if errors.Is(e.Err, why) {
			text += ": " + why.Error()
		}
	}
	return text
}

// Unwrap gives what the connection saw, with [ErrMemory] or [ErrThreads] if the
// process was killed for that.
func (e *ProcessError) Unwrap() error { return e.Err }

// Why this program kills a process, as part of a [*ProcessError].
var (
	// ErrMemory: it held more memory than it may.
	ErrMemory = meter.ErrMemory
	// ErrThreads: it had more threads than it may.
	ErrThreads = meter.ErrThreads
)

var errLauncherClosed = errors.New("spoke: the launcher is closed")

// marker is the one variable in the environment of a spoke's process, from its
// start until Main has seen it.
const marker = "ISOLATEGPT_SPOKE"

// The descriptors that a spoke's process inherits.
const (
	hubFD  = 3
	hostFD = 4
)
