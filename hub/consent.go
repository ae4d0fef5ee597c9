package hub

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/permission"
	"github.com/isolategpt/isolategpt/planner"
)

// admit puts a question to the gate. What it says is recorded before anything
// follows from it; a decision that cannot be recorded is a denial.
func (r *run) admit(ctx context.Context, q permission.Question) permission.Verdict {
	q.Query = r.text
	q.Degraded = r.degraded(ctx, q)
	if q.To.ID != "" {
		q.Warnings = append(q.Warnings, r.session.warnings(q)...)
	}
	v := r.gate.Check(ctx, q)
	told := v // what the person wrote is for who reads the events, and for nobody else
	if v.By == "user" && !v.Allowed() {
		v.Reason = "denied by the user"
	}
	rec := Record{
		Event: "decision", App: q.To.ID, From: q.From.ID, Functionality: q.Functionality, Detail: q.Kind.String(),
		Decision: v.Decision.String(), By: v.By, Rule: v.Rule, Reason: v.Reason, Size: len(q.Payload),
	}
	if r.recording() {
		rec.Digest = digestOf(q.Payload)
		if v.Request != nil {
			rec.Shown = v.Request.Digest
		}
	}
	if err := r.record(ctx, rec); err != nil {
		r.abort(err)
		v = permission.Verdict{By: "gate", Reason: "the decision could not be recorded"}
		told = v
	}
	if r.events != nil {
		shown := q
		shown.Payload, shown.Fields = slices.Clone(q.Payload), slices.Clone(q.Fields) // what runs is nobody else's
		r.emit(ctx, Decided{Question: shown, Verdict: told})
	}
	return v
}

func digestOf(body []byte) isc.Digest {
	if len(body) == 0 {
		return isc.Digest{}
	}
	return isc.DigestOf(body)
}

// party is how dialogs name an app.
func (r *run) party(id isc.AppID) permission.Party {
	if id == isc.Vanilla {
		return permission.Party{ID: id, Name: "the assistant"}
	}
	m, ok := r.registry().manifest(id)
	if !ok {
		m = r.registry().market[id]
	}
	return permission.Party{ID: id, Name: m.Name}
}

// callQuestion is the question before a functionality is used, of the kind that
// its effect asks for. Whoever calls fills in who wants it.
func (r *run) callQuestion(e planner.Entry, provider isc.AppID, body json.RawMessage, label isc.Label) permission.Question {
	effect := e.Effect
	if own, ok := r.functionality(provider, e.Functionality); !ok || own.Effect < effect {
		effect = own.Effect // what the app itself declares, if it is the stricter
	}
	q := permission.Question{
		Kind: permission.Change, To: r.party(provider), Functionality: e.Functionality, Effect: effect,
		Pin: r.registry().pin(provider, e.Functionality), Payload: body, Label: label,
	}
	q.Closed, _ = e.Request.Closed()
	if effect == isc.Irreversible {
		q.Kind = permission.Irreversible
	}
	return q
}

// seeker is who looks for an app: the plan, or an app in the course of its task.
type seeker struct {
	who     permission.Party // without an id: the plan
	planned bool
	stack   []isc.AppID // the apps that wait for this call
}

// ask fills in who is behind a question about which app shall serve.
func (s seeker) ask(q permission.Question) permission.Question {
	q.From = s.who
	if s.planned {
		q.Plan = permission.InPlan
	} else {
		q.Warnings = append(q.Warnings, permission.CodeNotInPlan)
	}
	return q
}

// choose finds who serves an entry: the app that the plan names, the only one,
// the one that the person picks, or one that the person lets be installed. Apps
// that wait for this call cannot serve it.
//
// Source: paper §IV-A4, steps 1 and 2.
func (r *run) choose(ctx context.Context, e planner.Entry, app isc.AppID, by seeker) (isc.AppID, error) {
	e.Providers = r.registry().providers(e) // something may have been installed since
	var candidates []isc.AppID
	for _, id := range e.Providers {
		if (app == "" || id == app) && !slices.Contains(by.stack, id) {
			candidates = append(candidates, id)
		}
	}
	if len(candidates) == 0 {
		if app != "" || len(e.Providers) > 0 {
			return "", &stepError{isc.StatusRefused, "no app that can be asked serves " + e.Name}
		}
		return r.install(ctx, e, by)
	}
	return r.selectApp(ctx, e, candidates, by)
}

// selectForTask asks whether a task may go to an app, as a call of the plan is
// asked about: a policy that asks about each app, or denies this one, is heard.
func (r *run) selectForTask(ctx context.Context, id isc.AppID) error {
	app := r.party(id)
	v := r.admit(ctx, permission.Question{
		Kind: permission.SelectApp, To: app, Options: []permission.Party{app}, Effect: isc.Read, Pin: r.registry().digest(id),
		Payload: json.RawMessage("{}"), Label: isc.HubLabel(), Closed: true, Plan: permission.InPlan,
	})
	if !v.Allowed() || v.Choice != "" && v.Choice != id {
		return &stepError{isc.StatusRefused, "no task may go to " + string(id) + ": " + v.Reason}
	}
	return nil
}

// forbidden says whether the policy denies the app whatever anyone says, so that
// a rule against an app holds for plain reads, too, and it is not offered.
func (r *run) forbidden(q permission.Question, id isc.AppID) (denied bool) {
	denied = true
	var err error
	defer contain("policy", &err)
	q.To, q.Options = r.party(id), []permission.Party{r.party(id)}
	return permission.Explain(r.hub.cfg.Policy, q).Effect == permission.RuleDeny
}

func (r *run) selectApp(ctx context.Context, e planner.Entry, candidates []isc.AppID, by seeker) (isc.AppID, error) {
	q := by.ask(permission.Question{
		Kind: permission.SelectApp, Functionality: e.Functionality, Effect: e.Effect, Pin: e.Request.Digest(),
		Payload: json.RawMessage("{}"), Label: isc.HubLabel(), Closed: true,
	})
	candidates = slices.DeleteFunc(slices.Clone(candidates), func(id isc.AppID) bool { return r.forbidden(q, id) })
	if len(candidates) == 0 {
		return "", &stepError{isc.StatusRefused, "the policy lets no app serve " + e.Name}
	}
	for _, id := range candidates {
		q.Options = append(q.Options, r.party(id))
	}
	if len(candidates) == 1 {
		q.To = q.Options[0]
	}
	v := r.admit(ctx, q)
	switch {
	case !v.Allowed():
		return "", &stepError{isc.StatusRefused, "no app was chosen: " + v.Reason}
	case slices.Contains(candidates, v.Choice):
		return v.Choice, nil
	case len(candidates) == 1 && v.Choice == "":
		return candidates[0], nil
	default:
		return "", &stepError{isc.StatusRefused, "no app was chosen"}
	}
}
