package spoke

import (
	"context"
	"errors"
	"io"

	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/memory"
)

// config is what a process is told to be.
func (h *host) config() hostConfig {
	c := hostConfig{App: h.manifest.ID, Limits: h.limits, Model: h.model != nil}
	if c.App != "" {
		c.Manifest = h.manifest.Digest().String()
	}
	if h.model != nil {
		capabilities := llm.CapabilitiesOf(h.model)
		c.Tools, c.Schema = capabilities.Tools, capabilities.Schema
	}
	return c
}

// serveChannel serves a process's calls, one after another, until the channel
// ends, or the process says something that is no call or calls too often.
func (h *host) serveChannel(ctx context.Context, rw io.ReadWriter) error {
	for {
		frame, err := readBytes(rw)
		if err != nil {
			return err
		}
		reply, err := h.take(ctx, frame)
		if err != nil {
			return err
		}
		err = writeFrame(rw, reply)
		if errors.Is(err, errFrameSize) {
			err = writeFrame(rw, hostReply{Error: &wireError{}})
		}
		if err != nil {
			return err
		}
	}
}

// take serves one frame. What will be refused whatever it says is not decoded.
func (h *host) take(ctx context.Context, frame []byte) (hostReply, error) {
	running, err := h.admit(ctx, len(frame))
	if err != nil {
		return hostReply{}, err
	}
	if !running || !fits(frame) {
		return hostReply{Error: &wireError{Kind: llm.OverBudget, Refused: true}}, nil // for a call of any kind
	}
	var call hostCall
	if err := decodeFrame(frame, &call); err != nil {
		return hostReply{}, err
	}
	return h.answer(ctx, call)
}

// answer serves one call. Its error is a call that is none.
func (h *host) answer(ctx context.Context, call hostCall) (hostReply, error) {
	if call.members() != 1 {
		return hostReply{}, errFrame
	}
	var scope memory.Scope // the host's own view has the scope
	switch {
	case call.Generate != nil:
		return h.generate(ctx, call.Generate), nil
	case call.Append != nil:
		return hostReply{Error: toWireError(hostMemory{h}.Append(ctx, scope, call.Append.record()))}, nil
	case call.Records != nil:
		records, err := hostMemory{h}.Records(ctx, scope, call.Records.query())
		reply := hostReply{Error: toWireError(err)}
		for _, r := range records {
			reply.Records = append(reply.Records, toWireRecord(r))
		}
		return reply, nil
	case call.Fetch != nil:
		response, err := hostFetcher{h}.Fetch(ctx, *call.Fetch)
		if err != nil {
			return hostReply{Error: toWireError(err)}, nil
		}
		return hostReply{Fetched: &response}, nil
	default:
		n, err := hostMemory{h}.Forget(ctx, scope, call.Forget.query())
		return hostReply{Forgotten: n, Error: toWireError(err)}, nil
	}
}

func (h *host) generate(ctx context.Context, r *wireRequest) hostReply {
	req := r.request()
	// The purpose is for the budgets and records of this side, and a spoke may
	// not pass for the planner there.
	if req.Purpose != "decide" {
		req.Purpose = "agent"
	}
	res, err := hostModel{h}.Generate(ctx, req)
	if err != nil {
		return hostReply{Error: toWireError(err)}
	}
	return hostReply{Response: toWireResponse(res)}
}

func (c hostCall) members() int {
	n := 0
	for _, set := range []bool{c.Generate != nil, c.Append != nil, c.Records != nil, c.Forget != nil, c.Fetch != nil} {
		if set {
			n++
		}
	}
	return n
}

func toWireError(err error) *wireError {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*llm.Error](err); ok {
		return &wireError{Kind: e.Kind, Status: e.Status, RetryAfter: e.RetryAfter}
	}
	return &wireError{Refused: errors.Is(err, ErrRefused)}
}
