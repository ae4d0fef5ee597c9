package wasm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/isolategpt/isolategpt/spoke"
	"github.com/isolategpt/isolategpt/spoke/wasm/internal/frame"
)

// task is one call as a guest works on it.
type task struct {
	hub   spoke.Hub
	watch *stopwatch
	done  *frame.Done // what the guest ended it with; nil before
}

var (
	errAfterDone = errors.New("wasm: it speaks after its answer")
	errNoAnswer  = errors.New("wasm: it returned without an answer")
)

// say serves one frame of the guest. Its error ends the guest.
func (t *task) say(ctx context.Context, raw []byte) ([]byte, error) {
	if t.done != nil {
		return nil, errAfterDone
	}
	up, err := frame.Decode(raw)
	if err != nil {
		return nil, err
	}
	if up.Done != nil {
		t.done = up.Done
		return []byte("{}"), nil
	}
	t.watch.pause()
	defer t.watch.resume()
	down, err := json.Marshal(t.serve(ctx, up))
	if err != nil || len(down) > frame.MaxDown {
		down, err = json.Marshal(frame.Reply{Error: frame.Failed})
	}
	return down, err
}

// serve asks the hub for what the frame asks for.
func (t *task) serve(ctx context.Context, up frame.Up) frame.Reply {
	var reply frame.Reply
	var err error
	switch {
	case t.hub == nil:
		err = spoke.ErrRefused
	case up.Use != nil:
		reply.Body, err = t.hub.Use(ctx, up.Use.Name, up.Use.Body)
	case up.Need != nil:
		reply.Values, err = t.hub.Need(ctx, up.Need.Fields...)
	case up.Confirm != nil:
		err = t.hub.Confirm(ctx, up.Confirm.Name, up.Confirm.Body)
	case up.Progress != nil:
		err = t.hub.Progress(ctx, *up.Progress)
	case up.Fetch != nil:
		reply.Response, err = t.fetch(ctx, *up.Fetch)
	}
	if err != nil {
		return frame.Reply{Error: frame.ErrorOf(err)}
	}
	return reply
}

func (t *task) fetch(ctx context.Context, r frame.Request) (*spoke.HTTPResponse, error) {
	response, err := t.hub.Fetch(ctx, spoke.HTTPRequest(r))
	return &response, err
}

// first is the frame that tells the guest what to do.
func first(ctx context.Context, c spoke.Call) ([]byte, error) {
	t := frame.Task{Functionality: c.Functionality, Body: c.Body}
	if end, ok := ctx.Deadline(); ok {
		t.Millis = max(1, time.Until(end).Milliseconds())
	}
	raw, err := json.Marshal(t)
	if err == nil && len(raw) > frame.MaxDown {
		err = errSize
	}
	if err != nil {
		return nil, fmt.Errorf("wasm: task: %w", err)
	}
	return raw, nil
}
