package hub

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/permission"
)

// Asker puts questions to the person that are no matter of consent: data that
// an app needs and the hub does not have, and questions of a plan.
//
// Ask is never called for two questions of one hub at once, nor while a dialog
// is open. It must return when ctx ends. An error means that there is no answer.
type Asker interface {
	Ask(ctx context.Context, q Question) (json.RawMessage, error)
}

// AskerFunc makes an [Asker] of a function.
type AskerFunc func(ctx context.Context, q Question) (json.RawMessage, error)

// Ask calls f.
func (f AskerFunc) Ask(ctx context.Context, q Question) (json.RawMessage, error) { return f(ctx, q) }

// Question is asked of the person.
type Question struct {
	// App is who wants to know; without an id it is the plan.
	App permission.Party
	// Text is the question, safe to show.
	Text string
	// Name is what an app wants to know, and Purpose why: the app's words, raw.
	// Show them through isc.Visible, and as the app's.
	Name, Purpose string
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
	raw, err := r.answerTo(ctx, q)
	if err == nil {
		raw, err = isc.Canonical(raw)
	}
	if err != nil || len(raw) > maxAnswer {
		r.mu.Lock()
		r.missing = append(r.missing, q.Text)
		r.mu.Unlock()
		return nil, false
	}
	return raw, true
}

func (r *run) answerTo(ctx context.Context, q Question) (raw json.RawMessage, err error) {
	if r.hub.asker == nil {
		return nil, errAbsent
	}
	give, err := r.hub.person.take(ctx)
	if err != nil {
		return nil, err
	}
	defer give()
	defer contain("asker", &err)
	return r.hub.asker.Ask(ctx, q)
}
