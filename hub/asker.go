package hub

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/permission"
)

// Asker puts questions to the person that are no matter of consent: data that
// an app needs and the hub does not have, and questions of a plan.
//
// Ask is never called for two questions of one user at once, nor while a dialog
// of theirs is open. It must return when ctx ends. An error means that there is no answer.
type Asker interface {
	Ask(ctx context.Context, q Question) (json.RawMessage, error)
}

// AskerFunc makes an [Asker] of a function.
type AskerFunc func(ctx context.Context, q Question) (json.RawMessage, error)

// Ask calls f.
func (f AskerFunc) Ask(ctx context.Context, q Question) (json.RawMessage, error) { return f(ctx, q) }

// Question is asked of the person.
type Question struct {
	User string // whose session it is
	// App is who wants to know; without an id it is the plan.
	App permission.Party
	// Text is the question, safe to show.
	Text string
	// Name is what an app wants to know, and Purpose why: the app's words, raw.
	// Show them through isc.Visible, and as the app's.
	Name, Purpose string
	// Options are what the answer is an index into, from 0, where the question
	// is which of them: data of apps, raw.
	Options []json.RawMessage
	// Format is what the answer must fit; nil for any JSON value.
	Format json.RawMessage
}

// maxAnswer bounds an answer, in bytes.
const maxAnswer = 64 << 10

// ask puts q to the person. Without an answer it is noted what is missing.
func (r *run) ask(ctx context.Context, q Question) (json.RawMessage, bool) {
	if q.Text == "" {
		q.Text = fmt.Sprintf("%s (%s) asks you for: %s", isc.Visible(q.App.Name), q.App.ID, isc.Visible(q.Name))
	} else {
		q.Text = isc.Visible(q.Text)
	}
	q.User = r.session.user
	raw, err := r.answerTo(ctx, q)
	if err == nil {
		raw, err = isc.Canonical(raw)
	}
	if err != nil || len(raw) > maxAnswer {
		r.mu.Lock()
		defer r.mu.Unlock()
		if len(r.missing) < maxMissing && !slices.Contains(r.missing, q.Text) {
			r.missing = append(r.missing, q.Text)
		}
		return nil, false
	}
	return raw, true
}

// maxMissing bounds what an answer says is missing.
const maxMissing = 16

// askedBefore notes that an app asks for something, and says whether it did so
// in this run, or whether the person was asked for as much as may be.
func (r *run) askedBefore(app isc.AppID, name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := string(app) + " " + name
	if r.asked[key] || len(r.asked) >= r.limits.Prompts {
		return true
	}
	if r.asked == nil {
		r.asked = map[string]bool{}
	}
	r.asked[key] = true
	return false
}

func (r *run) answerTo(ctx context.Context, q Question) (raw json.RawMessage, err error) {
	if r.hub.asker == nil {
		return nil, errAbsent
	}
	give, err := r.hub.people.take(ctx, r.session.user)
	if err != nil {
		return nil, err
	}
	defer give()
	defer contain("asker", &err)
	return r.hub.asker.Ask(ctx, q)
}
