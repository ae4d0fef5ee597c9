package openai_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/llm/openai"
)

func streaming(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, body)
	}
}

// events makes a stream of events.
func events(lines ...string) string {
	var b strings.Builder
	for _, line := range lines {
		_, _ = fmt.Fprintf(&b, "data: %s\n\n", line)
	}
	return b.String()
}

func text(s string) string { return fmt.Sprintf(`{"choices":[{"index":0,"delta":{"content":%q}}]}`, s) }

func calls(s string) string {
	return fmt.Sprintf(`{"choices":[{"index":0,"delta":{"tool_calls":[%s]}}]}`, s)
}

const (
	stop = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	done = `[DONE]`
)

func TestStreamsThatAreNotWholeOrNotOfTheProtocol(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		kind llm.Kind
	}{
		"nothing":             {"", llm.Truncated},
		"no end":              {events(text("Do not ")), llm.Truncated},
		"no finish":           {events(text("Do not "), done), llm.Truncated},
		"no DONE":             {events(text("Do not "), stop), llm.Truncated},
		"cut in a line":       {events(text("Do not ")) + `data: {"choi`, llm.Truncated},
		"length":              {events(text("a"), `{"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}`, done), llm.Truncated},
		"filter":              {events(text("a"), `{"choices":[{"index":0,"delta":{},"finish_reason":"content_filter"}]}`, done), llm.Filtered},
		"broken chunk":        {events(text("Do not "), `{"choices":[{"delta":{"content":"send `, text("it"), stop, done), llm.Malformed},
		"no JSON":             {events("hello", stop, done), llm.Malformed},
		"error chunk":         {events(text("Do not "), `{"error":{"message":"died","type":"server_error"}}`, text("it"), stop, done), llm.Unavailable},
		"error event":         {events(text("Do not ")) + "event: error\ndata: {\"message\":\"died\"}\n\n" + events(stop, done), llm.Unknown},
		"goes on":             {events(text("a"), stop, text("b"), done), llm.Malformed},
		"second choice":       {events(`{"choices":[{"index":1,"delta":{"content":"b"}}]}`, stop, done), llm.Malformed},
		"function_call":       {events(`{"choices":[{"index":0,"delta":{"function_call":{"name":"f","arguments":"{}"}},"finish_reason":"function_call"}]}`, done), llm.Malformed},
		"index out of turn":   {events(calls(`{"index":5,"id":"a","function":{"name":"f","arguments":"{}"}}`), stop, done), llm.Malformed},
		"index below zero":    {events(calls(`{"index":-1,"id":"a","function":{"name":"f","arguments":"{}"}}`), stop, done), llm.Malformed},
		"name changes":        {events(calls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`), calls(`{"index":0,"function":{"name":"g"}}`), stop, done), llm.Malformed},
		"half the arguments":  {events(calls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":"}}`), stop, done), llm.Malformed},
		"refusal":             {events(`{"choices":[{"index":0,"delta":{"refusal":"I will not"}}]}`, stop, done), llm.Filtered},
		"too large":           {events(text(strings.Repeat("x", 20_000)), stop, done), llm.Malformed},
		"endless little ones": {strings.Repeat(events(text("x")), 500), llm.Malformed},
	} {
		t.Run(name, func(t *testing.T) {
			m := served(t, openai.Config{Tools: true, MaxReply: 10_000}, streaming(c.body))
			_, res, err := streamed(t.Context(), m, user("May I?"))
			require.Nil(t, res)
			require.Equal(t, c.kind, llm.KindOf(err), "%v", err)
		})
	}
}

func TestStreamsInTheDialectsOfServers(t *testing.T) {
	long := strings.Repeat("long ", 30_000)
	call := func(id, arguments string) llm.ToolCall {
		return llm.ToolCall{ID: id, Name: "f", Arguments: []byte(arguments)}
	}
	for name, c := range map[string]struct {
		body string
		want llm.Response
	}{
		"comments, CR and no spaces": {": hi\r\n\r\ndata:" + text("a") + "\r\n\r\ndata:" + stop + "\r\n\r\ndata:[DONE]\r\n\r\n", llm.Response{Text: "a", Finish: llm.FinishStop}},
		"no empty line at the end":   {events(text("a"), stop) + "data: [DONE]\n", llm.Response{Text: "a", Finish: llm.FinishStop}},
		"long line":                  {events(text(long), stop, done), llm.Response{Text: long, Finish: llm.FinishStop}},
		"usage last":                 {events(text("a"), stop, `{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4}}`, done), llm.Response{Text: "a", Finish: llm.FinishStop, Usage: llm.Usage{InputTokens: 3, OutputTokens: 4}}},
		"repeated type, id and name": {events(
			calls(`{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\""}}`),
			calls(`{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":":1}"}}`), stop, done),
			llm.Response{Finish: llm.FinishTools, Calls: []llm.ToolCall{call("a", `{"x":1}`)}}},
		"interleaved calls": {events(
			calls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}},{"index":1,"id":"b","function":{"name":"f","arguments":""}}`),
			calls(`{"index":1,"function":{"arguments":"{\"y\":2}"}}`), calls(`{"index":0,"function":{"arguments":":1}"}}`), stop, done),
			llm.Response{Finish: llm.FinishTools, Calls: []llm.ToolCall{call("a", `{"x":1}`), call("b", `{"y":2}`)}}},
		"no index": {events(
			calls(`{"id":"a","function":{"name":"f","arguments":"{\"x\""}}`), calls(`{"function":{"arguments":":1}"}}`),
			calls(`{"id":"b","function":{"name":"f","arguments":"{}"}}`), stop, done),
			llm.Response{Finish: llm.FinishTools, Calls: []llm.ToolCall{call("a", `{"x":1}`), call("b", `{}`)}}},
		"what follows DONE is not read": {events(text("a"), stop, done, text("b"), "garbage"), llm.Response{Text: "a", Finish: llm.FinishStop}},
	} {
		t.Run(name, func(t *testing.T) {
			shown, res, err := streamed(t.Context(), served(t, openai.Config{Tools: true}, streaming(c.body)), user("hello"))
			require.NoError(t, err)
			require.Equal(t, c.want, *res)
			require.Equal(t, c.want.Text, shown)
		})
	}
}

func TestTextUnderASchemaIsShownOnceAndRestored(t *testing.T) {
	m := served(t, openai.Config{Schema: openai.ResponseFormat}, streaming(events(text(`{"a":1,`), text(`"b":null}`), stop, done)))
	req := user("hello")
	req.Schema = []byte(`{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"string"}},"required":["a"]}`)
	var chunks []string
	for c, err := range m.Stream(t.Context(), req) {
		require.NoError(t, err)
		if c.Response == nil {
			chunks = append(chunks, c.Text)
		}
	}
	require.Equal(t, []string{`{"a":1}`}, chunks)
}
