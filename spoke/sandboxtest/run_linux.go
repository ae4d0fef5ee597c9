package sandboxtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
)

func run(ctx context.Context, cfg Config) ([]Row, error) {
	if cfg.Confined == nil || cfg.Control == nil {
		return nil, errors.New("sandboxtest: Config needs both launchers")
	}
	chosen, err := choose(cfg.Attacks)
	if err != nil {
		return nil, err
	}
	s, err := newStage(cfg.Memory)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("sandboxtest: making what is attacked: %w", err), s.close())
	}
	r := &runner{cfg: cfg, stage: s, app: App()}
	rows, err := r.all(ctx, chosen)
	if err = errors.Join(err, s.close()); err != nil {
		return nil, err
	}
	return rows, nil
}

func choose(names []string) ([]attack, error) {
	if names == nil {
		return attacks(), nil
	}
	var out []attack
	for _, name := range names {
		a, ok := attackNamed(name)
		if !ok {
			return nil, fmt.Errorf("sandboxtest: there is no attack %q", name)
		}
		out = append(out, a)
	}
	return out, nil
}

// runner is one run.
type runner struct {
	cfg   Config
	stage *stage
	app   spoke.App
	alone sync.RWMutex // held by those that are exclusive
}

// all runs the attacks, so many at a time; the first error ends it.
func (r *runner) all(ctx context.Context, chosen []attack) ([]Row, error) {
	// A spoke that serves nothing refuses everything.
	alive := attack{Attack: Attack{Name: canary}}
	switch row, err := r.row(ctx, alive); {
	case err != nil:
		return nil, fmt.Errorf("sandboxtest: %w", err)
	case row.Refused || !row.Control:
		return nil, fmt.Errorf("sandboxtest: spokes do not serve: %s", row.Detail)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	rows, next := make([]Row, len(chosen)), make(chan int)
	var workers sync.WaitGroup
	for range r.cfg.Parallel {
		workers.Go(func() {
			for i := range next {
				row, err := r.row(ctx, chosen[i])
				if err != nil {
					cancel(fmt.Errorf("sandboxtest: attack %s: %w", chosen[i].Name, err))
				}
				rows[i] = row
			}
		})
	}
	for i := range chosen {
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	close(next)
	workers.Wait()
	return rows, context.Cause(ctx)
}

// row tries one attack in both ways.
func (r *runner) row(ctx context.Context, a attack) (Row, error) {
	if a.exclusive {
		r.alone.Lock()
		defer r.alone.Unlock()
	} else {
		r.alone.RLock()
		defer r.alone.RUnlock()
	}
	inside, isolation, err := r.attempt(ctx, r.cfg.Confined, spoke.Spec{App: r.app, Require: r.cfg.Require, Prefer: isc.DefenceInDepth}, a)
	if err != nil {
		return Row{}, err
	}
	outside, _, err := r.attempt(ctx, r.cfg.Control, spoke.Spec{App: r.app}, a)
	if err != nil {
		return Row{}, fmt.Errorf("the control: %w", err)
	}
	row := Row{
		Isolation: r.cfg.Name, Attack: a.Name, Guarantee: a.Guarantee,
		Refused: inside.Outcome != worked, Control: outside.Outcome == worked,
		Claimed: isolation.Has&a.Guarantee != 0, Detail: inside.Detail,
	}
	if row.Isolation == "" {
		row.Isolation = isolation.Name
	}
	if !row.Control {
		row.Detail = join(row.Detail, "control: "+outside.Detail)
	}
	return row, nil
}

func join(parts ...string) string {
	out := ""
	for _, p := range slices.DeleteFunc(parts, func(s string) bool { return s == "" }) {
		if out != "" {
			out += "; "
		}
		out += p
	}
	return out
}
