//go:build unix

package spoke

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/isolategpt/isolategpt/internal/child"
	"github.com/isolategpt/isolategpt/internal/sandbox"
	"github.com/isolategpt/isolategpt/isc"
)

// maxSpokeFiles bounds the open descriptors of a confined process.
const maxSpokeFiles = 64

// ready starts a process that waits to be told which app it is. One that has less
// than what is required is ended: an [*UnmetError].
func (l *ProcessLauncher) ready(ctx context.Context, required isc.Guarantees) (*process, error) {
	if l.unconfined() || runtime.GOOS != "linux" {
		return l.readyUnconfined(required)
	}
	profile, err := l.profile()
	if err != nil {
		return nil, err
	}
	profile.Namespaces = !l.flat.Load() && child.Namespaces() == nil
	p, err := l.readyConfined(ctx, profile, required)
	if err == nil || !profile.Namespaces || ctx.Err() != nil {
		return p, err
	}
	// Where namespaces are half allowed, a process may do better without.
	profile.Namespaces = false
	p, again := l.readyConfined(ctx, profile, required)
	if again != nil {
		return nil, err
	}
	l.flat.Store(true)
	return p, nil
}

// readyUnconfined has nothing to find out: that a process crashes alone is all
// that is had of one that may do whatever this user may.
func (l *ProcessLauncher) readyUnconfined(required isc.Guarantees) (*process, error) {
	detail := "waived"
	if !l.unconfined() {
		detail = "not on " + runtime.GOOS
	}
	isolation := isc.Isolation{Has: isc.CrashIsolation, Layers: []isc.Layer{{Name: "confinement", Detail: detail}}}
	if missing := required.Without(isolation.Has); missing != 0 {
		return nil, &UnmetError{Isolation: l.complete(isolation, 0), Missing: missing}
	}
	if l.cfg.Program != "" {
		return nil, errors.New("a separate program is never started unconfined; waive less, or pass its apps to spoke.Main")
	}
	p, err := startProcess(l.cfg, false)
	if err != nil {
		return nil, err
	}
	p.isolation = isolation
	if err := writeFrame(p.host, (*sandbox.Profile)(nil)); err != nil {
		return nil, p.fail(err)
	}
	return p, nil
}

func (l *ProcessLauncher) readyConfined(ctx context.Context, profile sandbox.Profile, required isc.Guarantees) (*process, error) {
	p, err := startProcess(l.cfg, profile.Namespaces)
	if err != nil {
		return nil, err
	}
	if err := l.confineWatched(ctx, p, profile); err != nil {
		return nil, p.fail(err)
	}
	if missing := required.Without(p.isolation.Has); missing != 0 {
		return nil, p.fail(&UnmetError{Isolation: l.complete(p.isolation, 0), Missing: missing})
	}
	if profile.Program == nil {
		return p, nil
	}
	// The first is the word to execute the program, the second tells the program
	// that it is confined already. Nothing that it says of itself counts.
	for range 2 {
		if err := writeFrame(p.host, (*sandbox.Profile)(nil)); err != nil {
			return nil, p.fail(err)
		}
	}
	return p, nil
}

// confineWatched has the process confine itself while, the first time, it is found
// out whether it can be watched over.
func (l *ProcessLauncher) confineWatched(ctx context.Context, p *process, profile sandbox.Profile) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	proof := make(chan error, 1)
	go func() { proof <- l.proveWatch(ctx, profile.Namespaces) }()
	err := p.confine(ctx, profile)
	if err != nil {
		cancel()
	}
	if seen := <-proof; err == nil {
		l.boundMemory(p, seen)
	}
	return err
}

func (l *ProcessLauncher) profile() (sandbox.Profile, error) {
	p := sandbox.Profile{Memory: l.cfg.Memory, Files: maxSpokeFiles, Hub: os.Getpid(), Channels: 2}
	if l.cfg.Program == "" {
		return p, nil
	}
	path, err := filepath.Abs(l.cfg.Program)
	if err == nil {
		err = checkStatic(path)
	}
	if err != nil {
		return p, fmt.Errorf("program %q: %w", l.cfg.Program, err)
	}
	p.Program = &sandbox.Program{Path: path, Env: []string{marker + "=1"}, Static: true}
	return p, nil
}

// spokeEnv is the environment that a spoke's process starts with.
func spokeEnv() []string {
	// In a program with cgo the second saves the C library an arena, and so 64 MiB of
	// address space, a thread.
	return []string{marker + "=1", "MALLOC_ARENA_MAX=1"}
}
