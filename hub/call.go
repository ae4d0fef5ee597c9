package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/permission"
	"github.com/isolategpt/isolategpt/planner"
)

// callStep uses a functionality once, or once for each element.
func (r *run) callStep(ctx context.Context, j *job, id string, do planner.Call, sc *scope, control isc.Label, out *result) error {
	e, _ := j.checked.Entry(id)
	u := use{run: r, job: j, id: id, do: do, entry: e, control: control}
	out.format = e.Response
	if do.Each == nil {
		got, err := u.once(ctx, sc)
		out.value, out.label = got.json, got.label
		return err
	}
	out.list = true
	array, err := sc.ref(*do.Each)
	if err != nil {
		return err
	}
	items, err := elementsOf(array.json)
	if err != nil {
		return err
	}
	if len(items) > do.AtMost && !r.admitMore(ctx, j, u, len(items)) {
		return &stepError{isc.StatusRefused, fmt.Sprintf("it would be done %d times, and at most %d are planned", len(items), do.AtMost)}
	}
	u.control = or(control, array.label).Join(array.label)
	out.value, out.label, err = u.forEach(ctx, sc, array, items)
	return err
}

// use is one call step on its way.
type use struct {
	run     *run
	job     *job
	id      string
	do      planner.Call
	entry   planner.Entry
	control isc.Label
}

// forEach uses the functionality for the elements side by side. Elements that
// failed are left out; if all failed, so did the step.
func (u use) forEach(ctx context.Context, sc *scope, array labelled, items []json.RawMessage) (json.RawMessage, isc.Label, error) {
	got := make([]labelled, len(items))
	errs := make([]error, len(items))
	slots := make(chan struct{}, u.run.limits.Parallel)
	var all sync.WaitGroup
	for i, item := range items {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			defer contain("step", &errs[i])
			inner := *sc
			inner.item = &labelled{json: item, label: array.label, free: array.free}
			got[i], errs[i] = u.once(ctx, &inner)
		})
	}
	all.Wait()
	label := u.control
	var done []json.RawMessage
	for i := range items {
		if errs[i] == nil {
			done = append(done, got[i].json)
			label = label.Join(got[i].label)
		}
	}
	if len(done) == 0 && len(items) > 0 {
		return nil, label, errors.Join(errs...)
	}
	return joinArray(done), label, nil
}

// admitMore asks whether an each may go beyond its bound. It is a change to the
// plan, not the plan, so that policies that do not ask about plans ask about it;
// it has no pin, so that no grant covers it.
func (r *run) admitMore(ctx context.Context, j *job, u use, n int) bool {
	payload, err := isc.Canonical(fmt.Appendf(nil, `{"times":%d,"at_most":%d}`, n, u.do.AtMost))
	if err != nil {
		return false
	}
	provider := j.provider[u.id]
	return r.admit(ctx, permission.Question{
		Kind: permission.Change, To: r.party(provider), Functionality: u.entry.Functionality, Effect: u.entry.Effect,
		Payload: payload, Label: u.control.Join(isc.HubLabel()), Plan: permission.NotInPlan,
	}).Allowed()
}

// once builds the body, asks what must be asked, and makes the call.
func (u use) once(ctx context.Context, sc *scope) (labelled, error) {
	r, provider := u.run, u.job.provider[u.id]
	args, err := u.arguments(sc)
	if err != nil {
		return labelled{}, err
	}
	if err := u.consent(ctx, provider, args); err != nil {
		return labelled{}, err
	}
	got, err := r.call(ctx, callee{entry: u.entry, provider: provider, body: args.body, label: args.label, planned: true})
	if err == nil {
		r.learnFrom(provider, args.values)
	}
	return got, err
}

// callArguments are the arguments of one call.
type callArguments struct {
	body   json.RawMessage // canonical
	label  isc.Label
	fields []permission.PayloadField
	values map[string]labelled // by argument
}

// arguments makes the canonical body. An argument that is absent is left out if
// the format can do without it, and otherwise skips the step.
func (u use) arguments(sc *scope) (callArguments, error) {
	label := or(u.control, isc.UserLabel())
	members := make(map[string]json.RawMessage, len(u.do.Args))
	args := make(map[string]labelled, len(u.do.Args))
	for name, v := range u.do.Args {
		got, err := sc.resolve(v)
		if errors.Is(err, errAbsent) {
			if f, ok := u.entry.Request.At("/" + escapePointer(name)); ok && !f.Required {
				continue
			}
			return callArguments{}, &stepError{isc.StatusSkipped, "its argument " + name + " is absent"}
		}
		if err != nil {
			return callArguments{}, err
		}
		members[name], args[name] = got.json, got
		label = label.Join(got.label)
	}
	body, err := u.body(members)
	if err != nil {
		return callArguments{}, &stepError{isc.StatusFailed, "its arguments do not fit the request format" + misfit(err)}
	}
	fields := u.run.fieldsOf(u.entry.Request, body, label)
	for i, f := range fields {
		top, _, _ := strings.Cut(strings.TrimPrefix(f.Pointer, "/"), "/")
		if own, ok := args[unescapePointer(top)]; ok && f.Label == label {
			fields[i].Label = own.label
		}
	}
	return callArguments{body, label, fields, args}, nil
}

// body is the canonical body of the arguments, checked. Where every argument
// stands in the plan, validation checked it against this very format already.
func (u use) body(members map[string]json.RawMessage) (json.RawMessage, error) {
	if body, format, ok := u.job.checked.Body(u.id); ok && format == u.entry.Request {
		return body, nil
	}
	raw, err := objectOf(members)
	if err != nil {
		return nil, err
	}
	return u.entry.Request.Check(raw)
}

// consent asks everything that a call of the plan must be asked about, in the
// order of the paper: data of the person, data of other apps, and the act.
func (u use) consent(ctx context.Context, provider isc.AppID, args callArguments) error {
	r := u.run
	act := r.callQuestion(u.entry, provider, args.body, args.label)
	act.Fields, act.Plan = args.fields, u.job.state()
	var questions []permission.Question
	if len(u.job.memoryOf(u.id)) > 0 {
		q := act
		q.Kind = permission.ShareData
		q.Fields = u.job.sharedFields(u.id, act.Fields)
		questions = append(questions, q)
	}
	givers := u.job.givers(u.id)
	for _, giver := range givers {
		q := act
		q.From = r.party(giver)
		if q.Kind != permission.Irreversible {
			q.Kind = permission.Collaborate
		}
		questions = append(questions, q)
	}
	if act.Effect != isc.Read && len(givers) == 0 {
		questions = append(questions, act)
	}
	for _, q := range questions {
		if v := r.admit(ctx, q); !v.Allowed() {
			return &stepError{isc.StatusRefused, "not allowed: " + v.Reason}
		}
	}
	return nil
}

// callee is one use of a functionality that everything was asked about.
type callee struct {
	entry    planner.Entry
	provider isc.AppID
	body     json.RawMessage
	label    isc.Label
	stack    []isc.AppID
	planned  bool // by the plan, not by an app in the course of its task
}

// call gives the body to a spoke of the provider and checks what comes back.
func (r *run) call(ctx context.Context, c callee) (labelled, error) {
	task := isc.Task{Kind: isc.TaskCall, Functionality: c.entry.Functionality, Body: c.body, Private: r.private}
	t := talk{key: spokeKey{app: c.provider}, task: task, given: c.label, stack: c.stack, planned: c.planned}
	if f, ok := r.functionality(c.provider, c.entry.Functionality); ok && f.Agent {
		t.task.May = r.wants(c.provider, nil)
	}
	res, label, err := r.talk(ctx, t)
	if err != nil {
		return labelled{}, err
	}
	body, err := c.entry.Response.Check(res.Body)
	if err != nil {
		return labelled{}, &stepError{isc.StatusFailed, "its answer does not fit the response format" + misfit(err)}
	}
	closed, _ := c.entry.Response.Closed()
	return labelled{json: body, label: label, free: !closed}, nil
}

func (r *run) functionality(id isc.AppID, name isc.FunctionalityName) (isc.Functionality, bool) {
	m, ok := r.registry().manifest(id)
	if !ok {
		return isc.Functionality{}, false
	}
	return m.Find(name)
}

// wants is what a spoke is shown of others' functionalities: what its manifest
// wants, as far as anyone may know of it, and what the plan lets it ask for. It
// says nothing about what is installed.
func (r *run) wants(id isc.AppID, may []string) []isc.Known {
	var out []isc.Known
	shown := map[isc.FunctionalityName]bool{}
	show := func(e planner.Entry) {
		if shown[e.Functionality] {
			return
		}
		shown[e.Functionality] = true
		out = append(out, isc.Known{
			Functionality: e.Functionality, Description: e.Description, Request: e.Request.Bare(), Response: e.Response.Bare(), // no prose: it may be another app's
		})
	}
	reg := r.registry()
	for _, name := range may {
		if e, ok := reg.catalogue.Entry(name); ok {
			show(e)
		}
	}
	m, _ := reg.manifest(id)
	for _, name := range m.Wants {
		if e, ok := reg.entryFor(name); ok && reg.isPublic(name) {
			show(e)
		}
	}
	return out
}
