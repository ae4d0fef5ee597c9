package hub

import (
	"context"
	"fmt"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/planner"
)

// decide asks a vanilla spoke, which has no functionality at all, one typed
// question over data. What must be found in the data, and what is picked from
// it, is checked and resolved here.
func (r *run) decide(ctx context.Context, j *job, id string, do planner.Decide, sc *scope, control isc.Label, out *result) error {
	data, label, err := r.inputs(sc, do.Inputs, control)
	if err != nil {
		return err
	}
	if !r.admitMixed(ctx, j, id, "", sc, do.Inputs, data, label) {
		return errMixed
	}
	a := answering{scope: sc, data: data}
	schema, err := a.schema(do.Answer)
	if err != nil {
		return err
	}
	format, err := r.hub.formats.of(schema)
	if err != nil {
		return fmt.Errorf("hub: decide: %w", err)
	}
	res, said, err := r.talk(ctx, talk{
		key: spokeKey{vanilla: do.Spoke}, given: label,
		task: isc.Task{Kind: isc.TaskDecide, Text: do.Question, Data: data, Answer: format.Schema(), Private: r.private},
	})
	if err != nil {
		return err
	}
	body, err := format.Check(res.Body)
	if err != nil {
		return &stepError{isc.StatusFailed, "the model's answer does not fit" + misfit(err)}
	}
	if out.value, err = a.settle(do.Answer, body); err != nil {
		return err
	}
	out.label = said.Join(a.picked(said))
	if !a.picks {
		out.format = format
	}
	return nil
}

// askStep puts a question of the plan to the person.
func (r *run) askStep(ctx context.Context, do planner.Ask, sc *scope, control isc.Label, out *result) error {
	text, err := sc.resolve(do.Question)
	if err != nil {
		return err
	}
	a := answering{scope: sc}
	schema, err := a.schema(do.Answer)
	if err != nil {
		return err
	}
	format, err := r.hub.formats.of(schema)
	if err != nil {
		return fmt.Errorf("hub: ask: %w", err)
	}
	raw, ok := r.ask(ctx, Question{Text: plain(text.json), Format: format.Schema(), Options: a.options})
	if !ok {
		return &stepError{isc.StatusMissing, "nobody answered its question"}
	}
	body, err := format.Check(raw)
	if err != nil {
		return &stepError{isc.StatusMissing, "the answer does not fit" + misfit(err)}
	}
	if out.value, err = a.settle(do.Answer, body); err != nil {
		return err
	}
	out.label = or(control, isc.UserLabel()).Join(isc.UserLabel())
	if a.picks {
		out.label = out.label.Join(a.from) // the person chose it; the words are whose they were
	} else {
		out.format = format
	}
	return nil
}
