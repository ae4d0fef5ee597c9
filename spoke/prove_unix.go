//go:build unix

package spoke

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/isolategpt/isolategpt/internal/child"
	"github.com/isolategpt/isolategpt/internal/foreign"
	"github.com/isolategpt/isolategpt/internal/meter"
	"github.com/isolategpt/isolategpt/internal/sandbox"
)

// proof is whether this program sees the memory that a confined child of it holds.
// It is found out by one child that holds some on purpose and then ends: a spoke
// would take longer to start if each did that itself. What is true of one child is
// true of another in namespaces as new as its own, since all that differs is which
// number they have; that it is the right one each spoke's first reading shows.
type proof struct {
	mu   sync.Mutex
	seen bool
}

// proofs are those without and with namespaces. They are facts about the program
// and its system, which is why they are no part of a launcher.
var proofs struct{ flat, namespaced proof }

// watchIsProven gives nil if a watch over children sees what it must. Only that is
// kept: what went wrong is tried again.
func watchIsProven(ctx context.Context, namespaces bool) error {
	p := &proofs.flat
	if namespaces {
		p = &proofs.namespaced
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.seen {
		return nil
	}
	err := proveWatch(ctx, namespaces)
	p.seen = err == nil
	return err
}

// proveWatch starts a child that is confined as for a program that is none, has it
// hold memory that no limit of its own counts, and gives nil if that is seen.
func proveWatch(ctx context.Context, namespaces bool) error {
	ours, theirs, err := socketPair()
	if err != nil {
		return err
	}
	defer func() { _, _ = ours.Close(), theirs.Close() }()
	output, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer func() { _ = output.Close() }()
	c, err := child.Start(child.Config{
		Name: "a proof", Env: []string{foreign.Variable + "=" + foreign.Value},
		Files: []*os.File{theirs, output}, Namespaces: namespaces,
	})
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = ours.SetDeadline(time.Unix(1, 0)) })
	err = holdAndLook(ctx, ours, c.Pid(), namespaces)
	if !stop() {
		err = context.Cause(ctx)
	}
	c.Kill() // nothing in it is worth a ladder
	return errors.Join(err, c.End(nil))
}

func holdAndLook(ctx context.Context, to *os.File, pid int, namespaces bool) error {
	profile := sandbox.Profile{
		Memory: 4 * meter.HoldBytes, Files: maxSpokeFiles, Namespaces: namespaces, Hub: os.Getpid(), Channels: 1,
		Program: &sandbox.Program{Path: os.DevNull}, // which is never executed
	}
	var report foreign.Report
	err := foreign.WriteFrame(to, profile)
	if err == nil {
		err = foreign.ReadFrame(to, &report)
	}
	if err == nil && report.Error != "" {
		err = errors.New(report.Error)
	}
	if err != nil {
		return err
	}
	m, err := meter.Open(pid)
	if err != nil {
		return err
	}
	defer m.Close()
	return m.Prove(ctx, func() error { return foreign.WriteFrame(to, foreign.Hold{Bytes: meter.HoldBytes}) })
}
