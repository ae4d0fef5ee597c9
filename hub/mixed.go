package hub

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/permission"
	"github.com/isolategpt/isolategpt/planner"
)

var errMixed = &stepError{isc.StatusRefused, "texts of different apps were not allowed to meet"}

// admitMixed asks whether free text of different apps may be put into one
// context: that of the app, or, without one, of a model. It is asked even where
// the plan was approved, and by the apps that really serve the steps: at
// planning time only the candidates were known.
func (r *run) admitMixed(ctx context.Context, j *job, id string, app isc.AppID, sc *scope, inputs []planner.Value, data []isc.Datum, label isc.Label) bool {
	apps := writers(j, id, sc, inputs)
	if len(apps) < 2 {
		return true
	}
	members := make(map[string]json.RawMessage, len(data))
	for _, d := range data {
		members[d.Name] = d.Body
	}
	payload, err := objectOf(members)
	if err != nil {
		return false
	}
	to := r.party(isc.Vanilla)
	if app != "" {
		to = r.party(app)
	}
	for _, from := range apps {
		q := permission.Question{
			Kind: permission.Deliver, From: r.party(from), To: to, Effect: isc.Read, Payload: payload, Label: label, Plan: permission.InPlan,
		}
		if from != app && !r.admit(ctx, q).Allowed() {
			return false
		}
	}
	return true
}

// writers are the apps that may have written free text among a step's inputs,
// sorted.
func writers(j *job, id string, sc *scope, inputs []planner.Value) []isc.AppID {
	var out []isc.AppID
	for i, v := range inputs {
		got, err := sc.resolve(v)
		if err != nil || !got.free {
			continue
		}
		for _, f := range j.flow[id] {
			if f.Argument != fmt.Sprintf("/inputs/%d", i) {
				continue
			}
			for _, from := range f.From {
				if app := j.provider[from]; app != "" {
					out = append(out, app)
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
