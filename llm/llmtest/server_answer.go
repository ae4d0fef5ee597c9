package llmtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/isolategpt/isolategpt/llm"
)

// answer writes one reply in the form that was asked for.
type answer struct {
	w    http.ResponseWriter
	ask  *asked
	quit <-chan struct{}
	gone <-chan struct{}
	lost bool // the client has hung up
}

// status answers with an error object.
func (a *answer) status(code int, kind, text string) {
	a.w.Header().Set("Content-Type", "application/json")
	a.w.WriteHeader(code)
	_, _ = fmt.Fprintf(a.w, `{"error":{"message":%q,"type":"error","code":%q}}`, text, kind)
}

func (a *answer) give(e Exchange) {
	if e.RetryAfter > 0 {
		a.w.Header().Set("Retry-After", strconv.Itoa(int(e.RetryAfter.Seconds())))
	}
	switch e.Fault {
	case RateLimit:
		a.status(http.StatusTooManyRequests, "rate_limit_exceeded", "slow down")
	case NoAuth:
		a.status(http.StatusUnauthorized, "invalid_api_key", "wrong key")
	case PromptLong:
		a.status(http.StatusBadRequest, "context_length_exceeded", "This model's maximum context length is 16 tokens")
	case Down:
		a.status(http.StatusServiceUnavailable, "unavailable", "loading the model")
	case Silence:
		select {
		case <-a.gone:
		case <-a.quit:
		}
	default:
		a.reply(e)
	}
}

// reply writes a reply, or something that begins as one.
func (a *answer) reply(e Exchange) {
	r := a.render(e)
	if a.ask.Stream {
		a.stream(e.Fault, r)
		return
	}
	a.w.Header().Set("Content-Type", "application/json")
	whole := r.whole()
	switch e.Fault {
	case Garbage:
		_, _ = io.WriteString(a.w, "<html>It works!</html>")
	case Endless:
		_, _ = io.WriteString(a.w, `{"choices":[{"message":{"content":"`)
		a.endless("and so on ")
	case CutOff:
		a.w.Header().Set("Content-Length", strconv.Itoa(len(whole)))
		_, _ = a.w.Write(whole[:len(whole)/2])
	case ErrorWithin:
		_, _ = io.WriteString(a.w, errorWithin)
	default:
		_, _ = a.w.Write(whole)
	}
}

const errorWithin = `{"error":{"message":"the worker died","type":"server_error","code":500}}`

// endless writes up to 64 MiB, or until the client hangs up.
func (a *answer) endless(text string) {
	block := []byte(strings.Repeat(text, 1000))
	for n := 0; n < 64<<20; n += len(block) {
		if _, err := a.w.Write(block); err != nil {
			return
		}
	}
}

// rendered is a reply in the server's terms.
type rendered struct {
	text   string
	calls  []llm.ToolCall
	finish string
	usage  llm.Usage
}

func (a *answer) render(e Exchange) rendered {
	r := rendered{text: e.Text, calls: e.Calls, finish: "stop", usage: e.Usage}
	switch {
	case len(e.Calls) > 0:
		r.calls, r.finish = a.named(e.Calls), "tool_calls"
	case e.JSON != "":
		a.shaped(&r, e.JSON)
	case e.Echo:
		r.text = a.lastUser()
	}
	switch e.Fault {
	case TokenLimit:
		r.finish = "length"
	case Filter:
		r.finish = "content_filter"
	}
	return r
}

// named gives calls the names under which the request offers the tools.
func (a *answer) named(calls []llm.ToolCall) []llm.ToolCall {
	plain := strings.NewReplacer(".", "_", "-", "_")
	calls = slices.Clone(calls)
	for i := range calls {
		for _, tool := range a.ask.Tools {
			if plain.Replace(tool.Function.Name) == plain.Replace(calls[i].Name) {
				calls[i].Name = tool.Function.Name
			}
		}
	}
	return calls
}

// shaped writes a reply under a schema as the request wants it: constrained
// text, a call of the one tool that has to be called, or, where the schema
// stands in words, what a chatty model makes of that.
func (a *answer) shaped(r *rendered, value string) {
	if s := a.ask.ResponseFormat.JSONSchema.Schema; s != nil {
		r.text = projected(s, value)
		return
	}
	if a.ask.ToolChoice != nil && len(a.ask.Tools) > 0 {
		// The tool that carries the reply is the last to be offered.
		tool := a.ask.Tools[len(a.ask.Tools)-1].Function
		r.text, r.finish = "", "tool_calls"
		r.calls = []llm.ToolCall{{ID: "call_reply", Name: tool.Name, Arguments: json.RawMessage(projected(tool.Parameters, value))}}
		return
	}
	r.text = "Here you are:\n```json\n" + value + "\n```"
}

// projected writes value as a model has to under a projection: wrapped if it is
// no object, and with a null for what is required and not there.
func projected(schema json.RawMessage, value string) string {
	var s struct {
		Required []string `json:"required"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return value
	}
	var object map[string]json.RawMessage
	_ = json.Unmarshal([]byte(value), &object) // no object: it stays empty
	_, has := object["value"]
	if object == nil || slices.Equal(s.Required, []string{"value"}) && !has {
		object = map[string]json.RawMessage{"value": json.RawMessage(value)}
	}
	for _, name := range s.Required {
		if _, ok := object[name]; !ok {
			object[name] = json.RawMessage("null")
		}
	}
	b, _ := json.Marshal(object) // valid parts make a valid whole
	return string(b)
}

func (a *answer) lastUser() string {
	for i := len(a.ask.Messages) - 1; i >= 0; i-- {
		m := a.ask.Messages[i]
		if text, ok := m.Content.(string); ok && m.Role == "user" {
			return text
		}
	}
	return ""
}

func (r *rendered) whole() []byte {
	message := map[string]any{"role": "assistant", "content": r.text}
	if len(r.calls) > 0 {
		message["content"] = nil
		var calls []any
		for _, c := range r.calls {
			calls = append(calls, map[string]any{
				"id": c.ID, "type": "function", "function": map[string]any{"name": c.Name, "arguments": string(c.Arguments)},
			})
		}
		message["tool_calls"] = calls
	}
	b, _ := json.Marshal(map[string]any{ // only strings and numbers
		"id": "chatcmpl-1", "object": "chat.completion", "model": "test",
		"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": r.finish}},
		"usage":   r.tokens(),
	})
	return b
}

func (r *rendered) tokens() map[string]any {
	return map[string]any{
		"prompt_tokens": r.usage.InputTokens, "completion_tokens": r.usage.OutputTokens,
		"total_tokens": r.usage.InputTokens + r.usage.OutputTokens,
	}
}
