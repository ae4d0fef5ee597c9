package hub

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/permission"
	"github.com/isolategpt/isolategpt/planner"
)

// errBroken ends a run whose reader stopped reading.
var errBroken = errors.New("hub: the run was broken off")

// run is the life of one request.
type run struct {
	hub     *Hub
	session *Session
	id      string
	text    string
	private bool
	limits  Limits
	budget  *budget
	gate    *permission.Run
	pool    *pool
	// events is nil where nobody reads them.
	events   chan Event
	answered Answer
	ended    <-chan struct{} // closed when the run is over or cancelled

	// abort ends the run at once, with the error as its cause.
	abort context.CancelCauseFunc

	memory remembering

	mu      sync.Mutex
	missing []string
	asked   map[string]bool // what apps asked the person for
}

// Option changes one run.
type Option func(*run)

// Private makes a run that reads and writes no memory and uses fresh spokes,
// which end with it (paper §IV-B4).
func Private() Option { return func(r *run) { r.private = true } }

// Run resolves a request over the session's apps and yields what happens.
//
// The sequence can be used once. It ends with [Answered] or with one error,
// whose event is nil. The run's work is done on goroutines of its own while the
// caller's loop handles events; dialogs and questions come from those, one at a
// time. Breaking off the loop cancels the run; in every case all of its
// goroutines have ended when the loop has.
//
// A request that cannot be planned, or that the person does not allow, is an
// answer with Refused set. Errors are ctx's cause, [ErrClosed], [ErrBudget]
// when the wall time is up, a model's error while planning, and an audit trail
// that cannot be written.
func (s *Session) Run(ctx context.Context, text string, opts ...Option) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		r, err := s.begin(text, opts)
		if err != nil {
			yield(nil, err)
			return
		}
		defer s.end(r)
		r.events = make(chan Event)
		ctx, cancel, stop := r.bounded(ctx)
		defer stop()
		done := make(chan error, 1)
		go func() {
			defer close(r.events)
			done <- r.resolve(ctx)
		}()
		defer func() {
			cancel(errBroken)
			for range r.events { // the run is ending, or the reader panicked: let it end
			}
		}()
		for ev := range r.events {
			if !yield(ev, nil) {
				return
			}
		}
		if err := <-done; err != nil {
			yield(nil, err)
		}
	}
}

// Ask is [Session.Run] for callers who want the answer alone.
func (s *Session) Ask(ctx context.Context, text string, opts ...Option) (Answer, error) {
	r, err := s.begin(text, opts)
	if err != nil {
		return Answer{}, err
	}
	defer s.end(r)
	ctx, _, stop := r.bounded(ctx)
	defer stop()
	if err := r.resolve(ctx); err != nil {
		return Answer{}, err
	}
	return r.answered, nil
}

// bounded is the context of the run: with its wall time, and ended by abort.
func (r *run) bounded(ctx context.Context) (_ context.Context, abort context.CancelCauseFunc, stop func()) {
	ctx, r.abort = context.WithCancelCause(ctx)
	ctx, done := context.WithTimeoutCause(ctx, r.limits.Wall, fmt.Errorf("%w: more than %v", ErrBudget, r.limits.Wall))
	r.ended = ctx.Done()
	return ctx, r.abort, func() { done(); r.abort(nil) }
}

// resolve is the run: plan, consent, execute, join, remember (paper §IV-A4).
func (r *run) resolve(ctx context.Context) (err error) {
	defer contain("run", &err)
	answer, err := r.attempts(ctx)
	if err != nil {
		return err
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	answer.Usage = r.budget.usage()
	answer.Missing = r.missing
	for _, m := range r.missing {
		answer.Text += "\nStill needed: " + m
	}
	if err := r.record(ctx, Record{Event: "answer", Digest: digestOf([]byte(answer.Text)), Size: len(answer.Text)}); err != nil {
		return err
	}
	if err := r.remember(ctx, answer); err != nil {
		return err
	}
	r.answered = answer
	r.emit(ctx, Answered{Answer: answer})
	return nil
}

// attempts plans and executes, again where the plan says so and a step failed.
// The steps of every attempt stand in the answer: what was done was done,
// whatever became of the attempts after it.
func (r *run) attempts(ctx context.Context) (Answer, error) {
	var failed []planner.Outcome
	var before []StepOutcome
	for attempt := 0; ; attempt++ {
		p, refusal, err := r.plan(ctx, failed)
		if err != nil {
			return Answer{}, errors.Join(context.Cause(ctx), err)
		}
		if p != nil {
			var ok bool
			if ok, refusal = r.approve(ctx, p); ok {
				refusal = ""
			} else {
				refusal = "The plan was not allowed (" + refusal + ")."
			}
		}
		if refusal != "" {
			return refusedAfter(before, refusal), nil
		}
		results := r.execute(ctx, p)
		if err := context.Cause(ctx); err != nil {
			return Answer{}, err
		}
		answer := r.answer(p, results)
		answer.Steps = append(before, answer.Steps...)
		var again bool
		if failed, again = outcomesOf(p, results); !again || attempt >= min(p.plan.Replan, planner.MaxReplan) {
			return answer, nil
		}
		before = answer.Steps
	}
}

// refusedAfter is the answer when there is no going on.
func refusedAfter(before []StepOutcome, why string) Answer {
	a := Answer{Steps: before, Label: isc.HubLabel()}
	var done []string
	for _, o := range before {
		if o.Status == isc.StatusDone {
			done = append(done, stepName(o))
		}
	}
	a.Refused = len(done) == 0
	if a.Refused {
		a.Text = why + " Nothing was done."
	} else {
		a.Text = why + " Nothing more was done. Done before: " + strings.Join(done, ", ") + "."
	}
	return a
}

// emit hands an event to the reader. A reader who is gone misses it.
func (r *run) emit(ctx context.Context, ev Event) {
	if r.events == nil {
		return
	}
	select {
	case r.events <- ev:
	case <-ctx.Done():
	}
}

func (r *run) registry() *registry { return r.hub.registry.Load() }

// recording says whether anyone keeps the trail, so that nothing is hashed for
// nobody.
func (r *run) recording() bool { return r.hub.trail.audit != nil }

func (r *run) record(ctx context.Context, rec Record) error {
	if !r.recording() {
		return nil
	}
	rec.Session, rec.Run = r.session.id, r.id
	return r.hub.trail.append(ctx, rec)
}

// stepError is how a step ends other than done: a status for planning, and the
// hub's words for the person.
type stepError struct {
	status isc.Status
	reason string
}

// Error is the reason.
func (e *stepError) Error() string { return e.reason }

// statusOf is the status that an error stands for.
func statusOf(err error) isc.Status {
	if e, ok := errors.AsType[*stepError](err); ok {
		return e.status
	}
	switch {
	case errors.Is(err, errAbsent):
		return isc.StatusMissing
	case errors.Is(err, ErrBudget):
		return isc.StatusBudget
	default:
		return isc.StatusFailed
	}
}
