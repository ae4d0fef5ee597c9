package openai

import (
	"encoding/json"
	"io"

	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/llm/internal/provider"
	"github.com/isolategpt/isolategpt/llm/internal/sse"
)

// maxCalls bounds the tool calls of one reply.
const maxCalls = 128

// assemble puts a streamed reply together and shows its text as it comes.
func (t *turn) assemble(r io.Reader, show func(text string) bool) (*llm.Response, error) {
	events := sse.NewReader(r)
	g := &gathered{}
	for {
		e, err := events.Next()
		if err == io.EOF {
			return nil, provider.Errorf(llm.Truncated, "the stream ended before [DONE]")
		}
		if err != nil {
			return nil, readFailure(err)
		}
		if string(e.Data) == "[DONE]" {
			return t.response(g)
		}
		text, err := g.chunk(e)
		if err != nil {
			return nil, err
		}
		if text != "" && !show(text) {
			return nil, errBroke
		}
	}
}

// chunk takes one event in and returns the text that it brought.
func (g *gathered) chunk(e sse.Event) (string, error) {
	var w wireReply
	if err := json.Unmarshal(e.Data, &w); err != nil {
		return "", provider.Errorf(llm.Malformed, "a chunk of the stream is not what the protocol says: %w", err)
	}
	if err := w.failure(e.Data); err != nil {
		return "", err
	}
	if e.Name == "error" {
		return "", provider.Errorf(llm.Unknown, "the server sent an error event")
	}
	if w.Usage != nil {
		g.usage = w.Usage
	}
	switch {
	case len(w.Choices) == 0:
		return "", nil // usage, or a server's sign of life
	case len(w.Choices) > 1 || w.Choices[0].Index != 0:
		return "", provider.Errorf(llm.Malformed, "the stream has more than one choice")
	}
	c := &w.Choices[0]
	if err := c.Delta.refused(); err != nil {
		return "", err
	}
	if g.finish != "" && (c.Delta.Content != "" || len(c.Delta.ToolCalls) > 0) {
		return "", provider.Errorf(llm.Malformed, "the stream goes on after its end")
	}
	g.text.WriteString(string(c.Delta.Content))
	for _, d := range c.Delta.ToolCalls {
		if err := g.callDelta(d); err != nil {
			return "", err
		}
	}
	if c.FinishReason != "" {
		g.finish = c.FinishReason
	}
	return string(c.Delta.Content), nil
}

// callDelta adds to the call that the index names. Servers that leave the index
// out send a call in one piece, or go on with the last one.
func (g *gathered) callDelta(d wireToolCall) error {
	i := len(g.calls) - 1
	switch {
	case d.Index != nil:
		i = *d.Index
	case d.ID != "" || i < 0:
		i++
	}
	if i < 0 || i >= maxCalls || i > len(g.calls) {
		return provider.Errorf(llm.Malformed, "a tool call has index %d after %d calls", i, len(g.calls))
	}
	if i == len(g.calls) {
		g.calls = append(g.calls, &call{})
	}
	c := g.calls[i]
	if !same(&c.id, d.ID) || !same(&c.name, d.Function.Name) {
		return provider.Errorf(llm.Malformed, "tool call %d changes its id or its name on the way", i)
	}
	c.arguments.WriteString(string(d.Function.Arguments))
	return nil
}

// same sets *have once. Repeating it is allowed: some servers do.
func same(have *string, got string) bool {
	if got == "" || *have == got {
		return true
	}
	if *have != "" {
		return false
	}
	*have = got
	return true
}
