package guest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/isolategpt/isolategpt/spoke"
	"github.com/isolategpt/isolategpt/spoke/wasm/internal/frame"
)

// noDeadline is long enough to be none. A handler that waits for the end of its
// context must wait for something, since the runtime takes waiting for nothing
// for a deadlock; the host ends it long before.
const noDeadline = 24 * time.Hour

var errNoApp = errors.New("guest: no app: call guest.Serve while the program is initialised")

// describe sends the app's manifest.
func (h host) describe(app *spoke.App) error {
	if app == nil {
		return errNoApp
	}
	raw, err := json.Marshal((*app).Manifest())
	if err == nil && len(raw) > frame.MaxUp {
		err = errTooLarge
	}
	if err != nil {
		return err
	}
	h(raw)
	return nil
}

// handle does one task, with raw as what is to be done.
func (h host) handle(app *spoke.App, raw []byte) error {
	if app == nil {
		return errNoApp
	}
	var task frame.Task
	if err := json.Unmarshal(raw, &task); err != nil {
		return fmt.Errorf("guest: task: %w", err)
	}
	wait := noDeadline
	if task.Millis > 0 {
		wait = time.Duration(task.Millis) * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	way := &hub{host: h}
	body, err := contain(func() (json.RawMessage, error) {
		return (*app).Handle(ctx, spoke.Call{Functionality: task.Functionality, Body: task.Body, Hub: way})
	})
	way.ended = true
	done := frame.Done{Error: frame.ErrorOf(err)}
	if err == nil {
		done.Body = body
	}
	if _, err = h.say(frame.Up{Done: &done}); err != nil {
		// It is no JSON, or more than a frame holds.
		_, err = h.say(frame.Up{Done: &frame.Done{Error: frame.Failed}})
	}
	return err
}

func contain[T any](f func() (T, error)) (out T, err error) {
	defer func() {
		if p := recover(); p != nil {
			var zero T
			out, err = zero, fmt.Errorf("guest: panic: %v", p)
		}
	}()
	return f()
}
