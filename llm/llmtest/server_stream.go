package llmtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// stream writes the reply as server-sent events.
func (a *answer) stream(f Fault, r rendered) {
	a.w.Header().Set("Content-Type", "text/event-stream")
	a.delta(map[string]any{"role": "assistant", "content": ""}, "")
	if f == Endless {
		text := strings.Repeat("and so on ", 1000)
		for range 1 << 13 {
			if a.delta(map[string]any{"content": text}, ""); a.lost {
				return
			}
		}
		return
	}
	if len(r.calls) == 0 {
		parts := pieces(r.text)
		for i, part := range parts {
			if i == (len(parts)+1)/2 && a.broken(f) {
				return
			}
			a.delta(map[string]any{"content": part}, "")
		}
	}
	if a.broken(f) {
		return
	}
	a.streamCalls(r)
	a.delta(map[string]any{}, r.finish)
	a.event(map[string]any{"choices": []any{}, "usage": r.tokens()})
	_, _ = io.WriteString(a.w, "data: [DONE]\n\n")
}

// broken does what goes wrong amid a stream, and says whether that ends it.
func (a *answer) broken(f Fault) bool {
	switch f {
	case Garbage:
		_, _ = io.WriteString(a.w, "data: {\"choices\":[{\"delta\":\n\n")
		a.delta(map[string]any{"content": "more "}, "")
		a.delta(map[string]any{}, "stop")
		_, _ = io.WriteString(a.w, "data: [DONE]\n\n")
		return true
	case ErrorWithin:
		_, _ = io.WriteString(a.w, "data: "+errorWithin+"\n\n")
		a.delta(map[string]any{"content": "more "}, "")
		a.delta(map[string]any{}, "stop")
		_, _ = io.WriteString(a.w, "data: [DONE]\n\n")
		return true
	}
	return f == CutOff
}

// streamCalls sends the calls in two pieces each, all first pieces first, so
// that only their index tells them apart.
func (a *answer) streamCalls(r rendered) {
	for i, c := range r.calls {
		half := len(c.Arguments) / 2
		a.delta(map[string]any{"tool_calls": []any{map[string]any{
			"index": i, "id": c.ID, "type": "function",
			"function": map[string]any{"name": c.Name, "arguments": string(c.Arguments[:half])},
		}}}, "")
	}
	for i, c := range r.calls {
		half := len(c.Arguments) / 2
		a.delta(map[string]any{"tool_calls": []any{map[string]any{
			"index": i, "type": "function", "function": map[string]any{"arguments": string(c.Arguments[half:])},
		}}}, "")
	}
}

func (a *answer) delta(delta map[string]any, finish string) {
	choice := map[string]any{"index": 0, "delta": delta, "finish_reason": nil}
	if finish != "" {
		choice["finish_reason"] = finish
	}
	a.event(map[string]any{"id": "chatcmpl-1", "choices": []any{choice}})
}

func (a *answer) event(v any) {
	b, _ := json.Marshal(v) // only strings and numbers
	_, err := fmt.Fprintf(a.w, "data: %s\n\n", b)
	if err == nil {
		err = http.NewResponseController(a.w).Flush()
	}
	a.lost = a.lost || err != nil
}
