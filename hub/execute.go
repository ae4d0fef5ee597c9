package hub

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/planner"
)

// result is how a step ended. It is written once, before those that wait for it
// go on.
type result struct {
	status isc.Status
	reason string // the hub's words, if there is no value
	err    error  // what it failed with
	value  []byte // canonical; nil if there is none
	label  isc.Label
	// format is of the value, or of each element if list is set. Nil: nothing is
	// known, so all of it is free text.
	format *isc.Format
	list   bool

	app           isc.AppID
	functionality isc.FunctionalityName
}

func (r *result) present() bool { return r != nil && r.status == isc.StatusDone && r.value != nil }

// freeAt says whether what a pointer selects may hold free text.
func (r *result) freeAt(pointer string) bool {
	if r.format == nil {
		return true
	}
	if r.list {
		rest, inside := strings.CutPrefix(pointer, "/*")
		if !inside {
			closed, _ := r.format.Closed()
			return !closed
		}
		pointer = rest
	}
	if pointer == "" {
		closed, _ := r.format.Closed()
		return !closed
	}
	f, ok := r.format.At(pointer)
	return !ok || !f.Closed
}

// execute runs the steps, each as soon as those that it waits for have ended,
// side by side where they do not wait for one another. The map has all results
// from the start and is only read; a step fills in its own, and reads those of
// steps that it waited for.
func (r *run) execute(ctx context.Context, j *job) map[string]*result {
	results := make(map[string]*result, len(j.plan.Steps))
	q := newQueue(j)
	for _, s := range j.plan.Steps {
		results[s.ID] = new(result)
	}
	var all sync.WaitGroup
	// work runs a step and, one after another, what became ready by it. Other
	// goroutines take what is ready beside that.
	var work func(ready []planner.Step)
	work = func(ready []planner.Step) {
		for len(ready) > 0 {
			for _, s := range ready[1:] {
				all.Go(func() { work([]planner.Step{s}) })
			}
			r.step(ctx, j, ready[0], results)
			ready = q.after(ready[0].ID)
		}
	}
	work(q.first)
	all.Wait()
	return results
}

// queue knows which steps wait for which. It is safe for concurrent use.
type queue struct {
	first []planner.Step // those that wait for none
	mu    sync.Mutex
	waits map[string]int            // for how many a step still waits
	next  map[string][]planner.Step // who waits for a step
}

func newQueue(j *job) *queue {
	q := &queue{waits: make(map[string]int, len(j.plan.Steps)), next: make(map[string][]planner.Step, len(j.plan.Steps))}
	for _, s := range j.plan.Steps {
		before := j.checked.After(s.ID)
		if len(before) == 0 {
			q.first = append(q.first, s)
			continue
		}
		q.waits[s.ID] = len(before)
		for _, id := range before {
			q.next[id] = append(q.next[id], s)
		}
	}
	return q
}

// after are the steps that are ready now that a step has ended.
func (q *queue) after(id string) []planner.Step {
	q.mu.Lock()
	defer q.mu.Unlock()
	var ready []planner.Step
	for _, s := range q.next[id] {
		if q.waits[s.ID]--; q.waits[s.ID] == 0 {
			ready = append(ready, s)
		}
	}
	return ready
}

// step runs one step and fills in how it ended.
func (r *run) step(ctx context.Context, j *job, s planner.Step, results map[string]*result) {
	out := results[s.ID]
	out.app = j.provider[s.ID]
	if e, ok := j.checked.Entry(s.ID); ok {
		out.functionality = e.Functionality
	}
	sc := &scope{results: results, memory: func(key string) (labelled, bool) { return r.recall(ctx, key) }}
	holds, control := sc.holds(s.When)
	if !holds {
		out.status, out.reason = isc.StatusSkipped, "its condition does not hold"
	} else {
		r.emit(ctx, StepStarted{Step: s.ID, App: out.app, Functionality: out.functionality})
		if err := r.do(ctx, j, s, sc, control, out); err != nil {
			out.status, out.reason, out.err, out.value = statusOf(err), reasonOf(err), err, nil
		}
	}
	o := outcomeOf(s, out)
	if err := r.record(ctx, Record{Event: "step", App: o.App, Functionality: o.Functionality, Detail: s.ID + " " + o.Status.String(), Reason: o.Reason}); err != nil {
		r.abort(err)
	}
	r.emit(ctx, StepEnded{Outcome: o})
}

// do runs the step's action. On success out holds a value and its label.
func (r *run) do(ctx context.Context, j *job, s planner.Step, sc *scope, control isc.Label, out *result) (err error) {
	defer contain("step", &err)
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if err := j.failed[s.ID]; err != nil {
		return err
	}
	switch do := s.Do.(type) {
	case planner.Call:
		err = r.callStep(ctx, j, s.ID, do, sc, control, out)
	case planner.Delegate:
		err = r.delegate(ctx, j, s.ID, do, sc, control, out)
	case planner.Decide:
		err = r.decide(ctx, j, s.ID, do, sc, control, out)
	case planner.Where:
		err = r.where(do, sc, control, out)
	case planner.Best:
		err = r.best(do, sc, control, out)
	case planner.Ask:
		err = r.askStep(ctx, do, sc, control, out)
	default:
		err = fmt.Errorf("hub: unknown kind of step %T", s.Do)
	}
	if err == nil {
		out.status = isc.StatusDone
	}
	return err
}

// misfit says by which keyword a body does not fit its format. The rest of such
// an error names members, and those names are an app's words.
func misfit(err error) string {
	if e, ok := errors.AsType[*isc.MismatchError](err); ok {
		return " (" + e.Keyword + ")"
	}
	return " (not strict JSON)"
}

// reasonOf is what the person may be told of an error. Only the hub's own words
// pass; what an app or model said does not.
func reasonOf(err error) string {
	if e, ok := errors.AsType[*stepError](err); ok {
		return e.reason
	}
	if e, ok := errors.AsType[*LostError](err); ok {
		err = e.Err
	}
	switch {
	case errors.Is(err, errAbsent):
		return "something that it needs is absent"
	case errors.Is(err, ErrBudget), errors.Is(err, ErrPanic), errors.Is(err, errSilent):
		return err.Error()
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return "the run ended"
	}
	if e, ok := errors.AsType[*LaunchError](err); ok {
		return e.Error()
	}
	if e, ok := errors.AsType[*CrashLoopError](err); ok {
		return e.Error()
	}
	return "the app failed"
}

func outcomeOf(s planner.Step, r *result) StepOutcome {
	return StepOutcome{Step: s.ID, App: r.app, Functionality: r.functionality, Status: r.status, Reason: r.reason, Err: r.err}
}

// outcomesOf is what planning may see of a finished job.
func outcomesOf(j *job, rs map[string]*result) (out []planner.Outcome, failed bool) {
	for _, s := range j.plan.Steps {
		r := rs[s.ID]
		out = append(out, planner.Outcome{Step: s.ID, Functionality: string(r.functionality), Status: r.status})
		failed = failed || r.status != isc.StatusDone && r.status != isc.StatusSkipped
	}
	return out, failed
}
