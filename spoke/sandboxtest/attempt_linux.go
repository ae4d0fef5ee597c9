package sandboxtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
)

// patience bounds each attempt.
const patience = 30 * time.Second

// attempt is one try of one attack in one spoke.
type attempt struct {
	targets targets
	victim  *spoke.Instance // nil unless the attack needs one
}

// attempt tries a in a fresh spoke of l.
func (r *runner) attempt(ctx context.Context, l spoke.Launcher, spec spoke.Spec, a attack) (outcome, isc.Isolation, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	t := &attempt{}
	defer t.end()
	if err := r.prepare(ctx, t, a); err != nil {
		return outcome{}, isc.Isolation{}, err
	}
	instance, err := l.Launch(ctx, spec)
	if err != nil {
		return outcome{}, isc.Isolation{}, err
	}
	out, err := ask[outcome](ctx, instance, attackRun, order{Name: a.Name, Targets: t.targets})
	closed := instance.Conn.Close()
	if dead, ok := died(ctx, err, closed); ok {
		out, err = outcome{Outcome: refused, Detail: dead}, nil
	}
	if err == nil && a.effect != nil {
		out, err = t.judge(ctx, a, out)
	}
	return out, instance.Isolation, err
}

// prepare makes the targets of an attempt.
func (r *runner) prepare(ctx context.Context, t *attempt, a attack) error {
	var err error
	if t.targets, err = r.stage.fresh(); err != nil {
		return err
	}
	if a.exclusive {
		return r.stage.bequeath()
	}
	if !a.sibling {
		return nil
	}
	if t.victim, err = r.cfg.Control.Launch(ctx, spoke.Spec{App: r.app}); err != nil {
		return fmt.Errorf("launching what is attacked: %w", err)
	}
	v, err := ask[victim](ctx, t.victim, victimHold, nothing{})
	t.targets.Sibling, t.targets.Address = v.PID, v.Address
	return err
}

func (t *attempt) end() {
	if t.victim != nil {
		_ = t.victim.Conn.Close()
	}
	if t.targets.Dir != "" {
		_ = os.RemoveAll(t.targets.Dir)
	}
}

// judge lets what can be seen outside decide.
func (t *attempt) judge(ctx context.Context, a attack, said outcome) (outcome, error) {
	shown, err := a.effect(ctx, t)
	switch {
	case err != nil:
		return said, err
	case shown:
		return outcome{Outcome: worked, Detail: said.Detail}, nil
	case said.Outcome == worked:
		return outcome{Outcome: refused, Detail: "without effect"}, nil
	default:
		return said, nil
	}
}

// signalled says whether a signal has reached the victim.
func signalled(ctx context.Context, t *attempt) (bool, error) {
	v, err := ask[victim](ctx, t.victim, victimReport, nothing{})
	return v.Signals > 0, err
}

// marked says whether something was executed.
func marked(_ context.Context, t *attempt) (bool, error) {
	_, err := os.Stat(t.targets.Marker)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// died says how a spoke ended that did not answer.
func died(ctx context.Context, err, closed error) (string, bool) {
	if err == nil || ctx.Err() != nil || errors.Is(err, errAnswer) {
		return "", false
	}
	for _, e := range []error{err, closed} {
		if p, ok := errors.AsType[*spoke.ProcessError](e); ok {
			return "it ended: " + p.State, true
		}
	}
	return "it ended", true
}

// errAnswer is an answer that is none.
var errAnswer = errors.New("sandboxtest: the spoke answers wrongly")

// ask calls a functionality of the app.
func ask[Out, In any](ctx context.Context, i *spoke.Instance, name isc.FunctionalityName, in In) (Out, error) {
	var out Out
	body, err := json.Marshal(in)
	if err != nil {
		return out, err
	}
	if err := i.Conn.Send(ctx, isc.Task{Kind: isc.TaskCall, Functionality: name, Body: body}); err != nil {
		return out, err
	}
	m, err := i.Conn.Recv(ctx)
	if err != nil {
		return out, err
	}
	r, ok := m.(isc.Result)
	if !ok || r.Status != isc.StatusDone {
		return out, fmt.Errorf("%w: %+v", errAnswer, m)
	}
	if err := json.Unmarshal(r.Body, &out); err != nil {
		return out, fmt.Errorf("%w: %w", errAnswer, err)
	}
	return out, nil
}
