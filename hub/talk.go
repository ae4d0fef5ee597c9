package hub

import (
	"context"
	"errors"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/permission"
)

// talk is one task for one spoke.
type talk struct {
	key     spokeKey
	task    isc.Task
	given   isc.Label
	stack   []isc.AppID
	may     map[string]bool
	planned bool
}

// talk lends a spoke, gives it the task, serves it until its result, and gives
// it back. The label is of whatever the spoke said. A warm spoke that died before
// it got the task is replaced.
func (r *run) talk(ctx context.Context, t talk) (isc.Result, isc.Label, error) {
	if err := r.budget.call(); err != nil {
		return isc.Result{}, isc.Label{}, err
	}
	for {
		s, fresh, err := r.pool.take(ctx, t.key, len(t.stack), r.budget)
		if err != nil {
			return isc.Result{}, isc.Label{}, err
		}
		res, label, delivered, err := r.talkTo(ctx, s, fresh, t)
		if fresh || delivered || !isLost(err) {
			return res, label, err
		}
	}
}

func isLost(err error) bool {
	_, ok := errors.AsType[*LostError](err)
	return ok
}

// talkTo is talk with a spoke that was lent. Delivered says whether the spoke got
// the task.
func (r *run) talkTo(ctx context.Context, s *spokeConn, fresh bool, t talk) (_ isc.Result, _ isc.Label, delivered bool, err error) {
	well := false
	defer func() { r.pool.give(s, well) }() // after a panic, too
	who, err := r.introduce(ctx, s, fresh, t)
	if err != nil {
		return isc.Result{}, isc.Label{}, false, err
	}
	c := &conversation{
		run: r, who: who, conn: s.conn, stack: append(t.stack[:len(t.stack):len(t.stack)], who.ID), may: t.may, given: t.given,
		functionality: t.task.Functionality, planned: t.planned, atMost: t.task.MaxCalls, silence: silence{limit: r.limits.Silence}, pace: newPace(),
	}
	defer c.sendsOut(ctx, s.lease)()
	res, err := c.converse(ctx, t.task)
	if isLost(err) && (fresh || c.delivered) {
		r.session.crashes.add(s.key)
	}
	if well = err == nil; !well {
		return isc.Result{}, isc.Label{}, c.delivered, err
	}
	if res.Status != isc.StatusDone {
		return isc.Result{}, isc.Label{}, true, &stepError{res.Status, "the app ended with status " + res.Status.String()}
	}
	return res, c.said(), true, nil
}

// introduce tells of a spoke that was started, and keeps what its app is about
// to be given.
func (r *run) introduce(ctx context.Context, s *spokeConn, fresh bool, t talk) (permission.Party, error) {
	if fresh {
		r.emit(ctx, Launched{App: t.key.app, Isolation: s.isolation})
		rec := Record{Event: "launch", App: t.key.app, Detail: s.isolation.Name, Has: s.isolation.Has, Lacks: s.isolation.Lacks}
		if err := r.record(ctx, rec); err != nil {
			return permission.Party{}, err
		}
	}
	if t.key.app == "" {
		return r.party(isc.Vanilla), nil
	}
	who := r.party(t.key.app)
	if !r.private {
		if err := errors.Join(r.session.recallGiven(ctx, who.ID), r.session.keepGiven(ctx, who.ID, t.given)); err != nil {
			return who, err
		}
	}
	r.session.note(who.ID, t.given)
	return who, nil
}
