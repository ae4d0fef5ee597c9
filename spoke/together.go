package spoke

import (
	"context"

	"github.com/isolategpt/isolategpt/llm"
)

// maxTogether bounds the calls of one request to the hub.
const maxTogether = 8

// together is how many of the first calls are for other apps.
func (r *agentRun) together(calls []llm.ToolCall) int {
	for i, call := range calls[:min(len(calls), maxTogether)] {
		if t, ok := r.tools.find(call.Name); !ok || t.kind != otherTool {
			return i
		}
	}
	return min(len(calls), maxTogether)
}

func (r *agentRun) useTogether(ctx context.Context, calls []llm.ToolCall) error {
	uses := make([]*use, len(calls))
	for i, call := range calls {
		t, _ := r.tools.find(call.Name) // together found it
		uses[i] = &use{name: t.functionality.Name, body: call.Arguments}
	}
	r.conversation.useAll(ctx, uses)
	r.last = did{}
	for i, u := range uses {
		result, err := r.outcome(ctx, u.out, u.err)
		if err != nil {
			return err
		}
		r.hear(calls[i], result)
	}
	return nil
}
