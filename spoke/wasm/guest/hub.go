package guest

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
	"github.com/isolategpt/isolategpt/spoke/wasm/internal/frame"
)

// host is the way out of the module: one frame up, one reply down.
type host func(up []byte) (down []byte)

var (
	errTooLarge = errors.New("guest: more than a frame holds")
	errReply    = errors.New("guest: the host's reply is malformed")
	errNothing  = errors.New("guest: without a name and a body nothing can be asked")
)

func (h host) say(up frame.Up) (frame.Reply, error) {
	raw, err := json.Marshal(up)
	if err != nil {
		return frame.Reply{}, err
	}
	if len(raw) > frame.MaxUp {
		return frame.Reply{}, errTooLarge
	}
	var reply frame.Reply
	if json.Unmarshal(h(raw), &reply) != nil {
		return frame.Reply{}, errReply
	}
	return reply, reply.Error.Err()
}

// hub is the [spoke.Hub] of a call.
type hub struct {
	host  host
	ended bool
}

func (h *hub) ask(ctx context.Context, up frame.Up) (frame.Reply, error) {
	if h.ended {
		return frame.Reply{}, spoke.ErrEnded
	}
	if err := context.Cause(ctx); err != nil {
		return frame.Reply{}, err
	}
	return h.host.say(up)
}

func (h *hub) Use(ctx context.Context, name isc.FunctionalityName, body json.RawMessage) (json.RawMessage, error) {
	if name == "" || len(body) == 0 {
		return nil, errNothing
	}
	reply, err := h.ask(ctx, frame.Up{Use: &frame.Use{Name: name, Body: body}})
	return reply.Body, err
}

func (h *hub) Need(ctx context.Context, fields ...isc.DataField) (map[string]json.RawMessage, error) {
	if len(fields) == 0 {
		return map[string]json.RawMessage{}, nil
	}
	reply, err := h.ask(ctx, frame.Up{Need: &frame.Need{Fields: fields}})
	if err == nil && reply.Values == nil {
		reply.Values = map[string]json.RawMessage{}
	}
	return reply.Values, err
}

func (h *hub) Confirm(ctx context.Context, name isc.FunctionalityName, body json.RawMessage) error {
	if name == "" || len(body) == 0 {
		return errNothing
	}
	_, err := h.ask(ctx, frame.Up{Confirm: &frame.Use{Name: name, Body: body}})
	return err
}

func (h *hub) Progress(ctx context.Context, text string) error {
	_, err := h.ask(ctx, frame.Up{Progress: &text})
	return err
}

func (h *hub) Fetch(ctx context.Context, r spoke.HTTPRequest) (spoke.HTTPResponse, error) {
	request := frame.Request(r)
	reply, err := h.ask(ctx, frame.Up{Fetch: &request})
	if err == nil && reply.Response == nil {
		err = errReply
	}
	if err != nil {
		return spoke.HTTPResponse{}, err
	}
	return *reply.Response, nil
}
