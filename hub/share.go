package hub

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/permission"
)

// maxNeeds bounds the fields of one request for data.
const maxNeeds = 32

// vagueNeeds are names that ask for a person's data without saying which. What
// the hub would give for one is everything that it knows, so that is what the
// person is shown.
var vagueNeeds = []string{
	"personal_data", "personal_information", "personal_info", "personal_details", "user_data", "user_info", "user_profile", "profile",
}

// share answers a spoke's request for data (paper §IV-B5, steps 2 to 4): from
// memory, with the person's consent, field by field; and where memory has
// nothing, or the person does not want to give it, the person is asked for it.
func (c *conversation) share(ctx context.Context, m isc.NeedData) isc.ToSpoke {
	if len(m.Fields) == 0 || len(m.Fields) > maxNeeds {
		return c.drop(ctx, "need data: none or too many fields")
	}
	var given []isc.Datum
	for _, f := range m.Fields {
		got, ok := c.fromMemory(ctx, f)
		if !ok {
			got, ok = c.fromUser(ctx, f)
		}
		if ok {
			given = append(given, isc.Datum{Name: f.Name, Body: got.json})
			c.take(ctx, got.label)
		}
	}
	if len(given) == 0 {
		return isc.Refused{}
	}
	return isc.Data{Values: given}
}

// fromMemory gives what the hub remembers under the field's name, if the person
// agrees.
func (c *conversation) fromMemory(ctx context.Context, f isc.DataField) (labelled, bool) {
	known := c.run.entities(ctx)
	if e, ok := known[f.Name]; ok {
		return e, c.askShare(ctx, f, map[string]labelled{f.Name: e})
	}
	if !slices.Contains(vagueNeeds, f.Name) || len(known) == 0 {
		return labelled{}, false
	}
	if !c.askShare(ctx, f, known) {
		return labelled{}, false
	}
	return objectFrom(known)
}

func (c *conversation) askShare(ctx context.Context, f isc.DataField, values map[string]labelled) bool {
	payload, ok := objectFrom(values)
	if !ok {
		return false
	}
	q := permission.Question{
		Kind: permission.ShareData, To: c.who, Pin: c.run.registry().digest(c.who.ID), Effect: isc.Read,
		Payload: payload.json, Label: payload.label, Purpose: f.Purpose, Closed: false,
	}
	for name, v := range values { // a grant is for these fields with these values
		q.Fields = append(q.Fields, permission.PayloadField{Pointer: "/" + escapePointer(name), Label: v.label, Role: isc.Record})
	}
	slices.SortFunc(q.Fields, func(a, b permission.PayloadField) int {
		return strings.Compare(a.Pointer, b.Pointer)
	})
	return c.run.admit(ctx, q).Allowed()
}

// fromUser puts the question to the person. Giving the answer is the consent.
func (c *conversation) fromUser(ctx context.Context, f isc.DataField) (labelled, bool) {
	if c.run.askedBefore(c.who.ID, f.Name) {
		return labelled{}, false // a person is not asked the same by the same app twice in a run
	}
	raw, ok := c.run.ask(ctx, Question{App: c.who, Name: f.Name, Purpose: f.Purpose})
	if !ok {
		return labelled{}, false
	}
	got := labelled{json: raw, label: isc.UserLabel().Sensitive(), free: true}
	c.run.learnFrom(c.who.ID, map[string]labelled{f.Name: got})
	return got, true
}

func objectFrom(values map[string]labelled) (labelled, bool) {
	members := make(map[string]json.RawMessage, len(values))
	out := labelled{label: isc.UserLabel(), free: true}
	for name, v := range values {
		members[name] = v.json
		out.label = out.label.Join(v.label)
	}
	var err error
	out.json, err = objectOf(members)
	return out, err == nil
}
