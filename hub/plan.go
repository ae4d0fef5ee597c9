package hub

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/permission"
	"github.com/isolategpt/isolategpt/planner"
)

// job is a validated plan on its way: who serves which step, and whether the
// person approved it as a whole.
type job struct {
	checked  *planner.Checked
	plan     *planner.Plan
	flow     map[string][]planner.Flow // what goes into each step
	provider map[string]isc.AppID
	// failed are the call steps that nobody will serve, and why.
	failed   map[string]error
	approved bool
}

// state is how the steps of the job stand to its plan.
func (j *job) state() permission.PlanState {
	if j.approved {
		return permission.PlanApproved
	}
	return permission.InPlan
}

// plan asks the planner and validates what it says, whoever wrote the planner.
// A refusal in words is returned where there is no valid plan.
func (r *run) plan(ctx context.Context, failed []planner.Outcome) (_ *job, refusal string, err error) {
	in := planner.Input{Query: r.text, Catalogue: r.registry().catalogue, Today: time.Now(), Failed: failed}
	if !r.private {
		if in.Turns, err = r.session.recentTurns(ctx); err != nil {
			return nil, "", err
		}
		if in.MemoryKeys, err = r.memoryKeys(ctx); err != nil {
			return nil, "", err
		}
	}
	checked, err := r.callPlanner(ctx, in)
	if e, ok := errors.AsType[*planner.PlanError](err); ok {
		return nil, unplannable(e.Problems), nil
	}
	if err != nil {
		return nil, "", err
	}
	j := &job{checked: checked, plan: checked.Plan(), provider: map[string]isc.AppID{}, failed: map[string]error{}, flow: map[string][]planner.Flow{}}
	for _, f := range checked.Flows() {
		j.flow[f.To] = append(j.flow[f.To], f)
	}
	if r.recording() {
		raw, err := json.Marshal(j.plan)
		if err != nil {
			return nil, "", err
		}
		if err := r.record(ctx, Record{Event: "plan", Digest: isc.DigestOf(raw), Size: len(raw)}); err != nil {
			return nil, "", err
		}
	}
	if r.events != nil {
		r.emit(ctx, Planned{Plan: checked.Plan(), Primary: checked.Primary(), Secondary: checked.Secondary(), Warnings: checked.Notes()})
	}
	return j, "", nil
}

// checkingPlanner is a planner that validates its plans itself. A
// [planner.Checked] can be made in no other way, and says for what it was.
type checkingPlanner interface {
	PlanChecked(ctx context.Context, in planner.Input) (*planner.Checked, error)
}

// callPlanner returns a plan that was validated for exactly what it was made
// from. A plan that is not valid is a [*planner.PlanError], whoever wrote it.
func (r *run) callPlanner(ctx context.Context, in planner.Input) (checked *planner.Checked, err error) {
	defer contain("planner", &err)
	var p *planner.Plan
	if own, ok := r.hub.planner.(checkingPlanner); ok {
		if checked, err = own.PlanChecked(meter(ctx, r.budget), in); err != nil || checked.For(in.Catalogue, in.MemoryKeys) {
			return checked, err
		}
		p = checked.Plan() // valid for something else
	} else if p, err = r.hub.planner.Plan(meter(ctx, r.budget), in); err != nil {
		return nil, err
	}
	if p == nil {
		return nil, errors.New("hub: the planner gave neither plan nor error")
	}
	checked, problems := p.Validate(in.Catalogue, planner.ValidateInput{MemoryKeys: in.MemoryKeys})
	if len(problems) > 0 {
		return nil, &planner.PlanError{Problems: problems, Attempts: 1}
	}
	return checked, nil
}

// chooseAll finds an app for each call step before anything runs.
func (r *run) chooseAll(ctx context.Context, j *job) {
	chosen := map[string]isc.AppID{}
	for _, s := range j.plan.Steps {
		switch do := s.Do.(type) {
		case planner.Delegate:
			j.provider[s.ID] = do.App
			if do.App == "" {
				continue
			}
			if err := r.selectForTask(ctx, do.App); err != nil {
				j.failed[s.ID] = err
			}
		case planner.Call:
			e, _ := j.checked.Entry(s.ID)
			key := e.Name + " " + string(do.App)
			id, known := chosen[key]
			if !known {
				var err error
				if id, err = r.choose(ctx, e, do.App, seeker{planned: true}); err != nil {
					j.failed[s.ID] = err
					continue
				}
				chosen[key] = id
			}
			j.provider[s.ID] = id
		default: // others need no app
		}
	}
}

// approve asks the person once for the whole plan, where there is something to
// ask: it gives an app data of the person or of another app, or changes
// something that will not be asked about by itself.
func (r *run) approve(ctx context.Context, j *job) (ok bool, reason string) {
	r.chooseAll(ctx, j)
	if !j.needsApproval() {
		return true, ""
	}
	payload, err := json.Marshal(j.plan)
	if err == nil {
		payload, err = isc.Canonical(payload)
	}
	if err != nil {
		return false, "the plan cannot be shown"
	}
	v := r.admit(ctx, permission.Question{
		Kind: permission.ApprovePlan, Payload: payload, Label: isc.UserLabel(), Plan: permission.InPlan,
		Effect: j.effect(), Flows: r.flows(j),
	})
	j.approved = v.Allowed() && v.Request != nil
	return v.Allowed(), v.Reason
}

func (j *job) needsApproval() bool {
	for _, s := range j.plan.Steps {
		switch do := s.Do.(type) {
		case planner.Delegate:
			if do.OpenEnded || len(do.May) > 0 || j.crosses(s.ID) || len(j.memoryOf(s.ID)) > 0 {
				return true
			}
		case planner.Call:
			if _, failed := j.failed[s.ID]; failed {
				continue
			}
			e, _ := j.checked.Entry(s.ID)
			if e.Effect == isc.Write || j.crosses(s.ID) || len(j.memoryOf(s.ID)) > 0 {
				return true
			}
		default: // others give nothing to an app
		}
	}
	return false
}

// crosses says whether a step gets what another app returned.
func (j *job) crosses(id string) bool { return len(j.givers(id)) > 0 }

// givers are the other apps whose results go into a step, sorted.
func (j *job) givers(id string) []isc.AppID {
	var out []isc.AppID
	for _, f := range j.flow[id] {
		// What decides whether and how often it is done tells of itself, too.
		for _, from := range slices.Concat(f.From, f.Control) {
			if app := j.provider[from]; app != "" && app != j.provider[id] {
				out = append(out, app)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// memoryOf are the keys of memory that go into a step. The date is no secret.
func (j *job) memoryOf(id string) []string {
	var out []string
	for _, f := range j.flow[id] {
		for _, key := range f.Memory {
			if key != planner.Today {
				out = append(out, key)
			}
		}
	}
	return out
}

// sharedFields are the fields of a step in which what comes from memory counts as
// a record: a grant is for these values, and no other datum may take their place.
func (j *job) sharedFields(id string, fields []permission.PayloadField) []permission.PayloadField {
	out := slices.Clone(fields)
	for _, f := range j.flow[id] {
		for i := range out {
			inside := out[i].Pointer == f.Argument || strings.HasPrefix(out[i].Pointer, f.Argument+"/")
			if len(f.Memory) > 0 && inside && !out[i].Role.IsTarget() {
				out[i].Role = isc.Record
			}
		}
	}
	return out
}

// effect is the strongest effect among the calls.
func (j *job) effect() isc.Effect {
	strongest := isc.Read
	for _, s := range j.plan.Steps {
		if e, ok := j.checked.Entry(s.ID); ok && e.Effect < strongest {
			strongest = e.Effect
		}
	}
	return strongest
}

// flows tell the person which app does what with which data.
func (r *run) flows(j *job) []permission.Flow {
	inputs := map[string][]permission.FlowInput{}
	for _, f := range j.allFlows() {
		in := permission.FlowInput{Name: f.Argument, Literal: f.Literal, Label: isc.UserLabel()}
		var from []string
		for _, key := range f.Memory {
			from = append(from, "memory "+key)
		}
		for _, step := range f.From {
			from = append(from, "step "+step)
			in.Label = in.Label.Join(isc.AppLabel(j.provider[step]))
		}
		for _, step := range f.Asked {
			from = append(from, "your answer to "+step)
		}
		in.Source = strings.Join(from, ", ")
		inputs[f.To] = append(inputs[f.To], in)
	}
	var out []permission.Flow
	for _, s := range j.plan.Steps {
		flow := permission.Flow{Step: s.ID, Effect: isc.Read, Inputs: inputs[s.ID]}
		switch do := s.Do.(type) {
		case planner.Call:
			e, _ := j.checked.Entry(s.ID)
			flow.Functionality, flow.Effect = e.Functionality, e.Effect
		case planner.Delegate:
			if do.OpenEnded {
				flow.Inputs = append(flow.Inputs, permission.FlowInput{Name: "what is to be done", Source: "whatever its inputs say", Label: isc.AppLabel(do.App)})
			}
			for _, name := range do.May {
				flow.Inputs = append(flow.Inputs, permission.FlowInput{Name: "may ask for", Source: name, Label: isc.UserLabel()})
			}
		case planner.Decide:
			if len(inputs[s.ID]) == 0 {
				continue
			}
		default:
			continue
		}
		if id := j.provider[s.ID]; id != "" {
			flow.App = r.party(id)
		}
		out = append(out, flow)
	}
	return out
}

// allFlows are the flows of all steps, in the plan's order.
func (j *job) allFlows() []planner.Flow {
	var out []planner.Flow
	for _, s := range j.plan.Steps {
		out = append(out, j.flow[s.ID]...)
	}
	return out
}

// unplannable says in words what could not be planned. The problems are the
// hub's own words about the plan.
func unplannable(problems []planner.Problem) string {
	const most = 3
	text := "This could not be planned"
	for i, p := range problems[:min(len(problems), most)] {
		text += []string{": ", "; ", "; "}[i] + p.Text
	}
	return text + "."
}

// today is the value of the hub's date.
func today(t time.Time) labelled {
	return labelled{json: json.RawMessage(t.Format(`"2006-01-02"`)), label: isc.HubLabel()}
}
