package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/permission"
	"github.com/isolategpt/isolategpt/planner"
)

// sentence is the format of what a delegated task ends with.
var sentence = isc.MustFormat(`{"type":"string","maxLength":65536}`)

// delegate gives a sub-task in words to an app's agent, or to a vanilla spoke.
func (r *run) delegate(ctx context.Context, j *job, id string, do planner.Delegate, sc *scope, control isc.Label, out *result) error {
	data, label, err := r.inputs(sc, do.Inputs, control)
	if err != nil {
		return err
	}
	if !r.admitMixed(ctx, j, id, do.App, sc, do.Inputs, data, label) {
		return errMixed
	}
	if err := r.consentToInputs(ctx, j, id, do.App, data, label); err != nil {
		return err
	}
	t := talk{
		key: spokeKey{app: do.App}, given: label, may: map[string]bool{}, planned: true,
		task: isc.Task{
			Kind: isc.TaskDelegate, Text: do.Task, Data: data, May: r.wants(do.App, do.May), Answer: sentence.Schema(),
			MaxCalls: do.AtMost, Private: r.private,
		},
	}
	for _, name := range do.May {
		t.may[name] = true
	}
	res, said, err := r.talk(ctx, t)
	if err != nil {
		return err
	}
	out.value, err = sentence.Check(res.Body)
	if err != nil {
		return &stepError{isc.StatusFailed, "its answer does not fit" + misfit(err)}
	}
	out.label, out.format = said, sentence
	return nil
}

// inputs resolves what a model is given. What is absent is left out; if all of
// it is, so is the step.
func (r *run) inputs(sc *scope, values []planner.Value, control isc.Label) ([]isc.Datum, isc.Label, error) {
	label := or(control, isc.UserLabel())
	var data []isc.Datum
	for i, v := range values {
		got, err := sc.resolve(v)
		if errors.Is(err, errAbsent) {
			continue
		}
		if err != nil {
			return nil, label, err
		}
		data = append(data, isc.Datum{Name: inputName(v, i), Body: got.json})
		label = label.Join(got.label)
	}
	if len(values) > 0 && len(data) == 0 {
		return nil, label, &stepError{isc.StatusSkipped, "none of its inputs is there"}
	}
	return data, label, nil
}

// inputName names an input for a prompt: by the plan, never by an app.
func inputName(v planner.Value, i int) string {
	switch v := v.(type) {
	case planner.Ref:
		return fmt.Sprintf("%s%s", v.Step, v.Pointer)
	case planner.Memory:
		return v.Key
	default:
		return fmt.Sprintf("input %d", i+1)
	}
}

// consentToInputs asks for data of the person and of other apps that a
// delegated task is given.
func (r *run) consentToInputs(ctx context.Context, j *job, id string, app isc.AppID, data []isc.Datum, label isc.Label) error {
	if app == "" || len(data) == 0 {
		return nil
	}
	members := make(map[string]json.RawMessage, len(data))
	for _, d := range data {
		members[d.Name] = d.Body
	}
	payload, err := objectOf(members)
	if err != nil {
		return err
	}
	q := permission.Question{
		Kind: permission.ShareData, To: r.party(app), Effect: isc.Read, // no pin: what is given to a task is asked each time
		Payload: payload, Label: label, Plan: j.state(),
	}
	for _, d := range data {
		q.Fields = append(q.Fields, permission.PayloadField{Pointer: "/" + escapePointer(d.Name), Label: label, Role: isc.Payload})
	}
	var questions []permission.Question
	if len(j.memoryOf(id)) > 0 {
		questions = append(questions, q)
	}
	for _, giver := range j.givers(id) {
		d := q
		d.Kind, d.From = permission.Deliver, r.party(giver)
		questions = append(questions, d)
	}
	for _, q := range questions {
		if v := r.admit(ctx, q); !v.Allowed() {
			return &stepError{isc.StatusRefused, "not allowed: " + v.Reason}
		}
	}
	return nil
}
