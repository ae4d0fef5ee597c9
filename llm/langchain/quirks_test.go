package langchain_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms"

	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/llm/langchain"
)

// Each test here is a behaviour of langchaingo v0.1.14, first shown on the
// provider itself where it can be, so that a version that mends it is noticed.

func TestQ3CancelledStreamIsTheContextsErrorAndNeverHalfAnAnswer(t *testing.T) {
	cause := errors.New("the user left")
	for range 20 { // langchaingo returned a nil error in about half of the cases
		ctx, cancel := context.WithCancelCause(t.Context())
		url := serve(t, func(w http.ResponseWriter, r *http.Request) {
			events(text("Do not "))(w, r)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		})
		m := wrap(t, openAI(t, url, langchain.Client(nil)), langchain.Config{Stream: true})
		var last error
		for c, err := range m.Stream(ctx, user("May I?")) {
			require.Nil(t, c.Response)
			if last = err; err == nil {
				cancel(cause)
			}
		}
		require.ErrorIs(t, last, cause)
		cancel(nil)
	}
}

func TestQ4StreamThatIsCutIsTruncated(t *testing.T) {
	url := serve(t, events(text("Do not "), text("send it.")))
	res, err := bare(t.Context(), openAI(t, url, nil))
	require.NoError(t, err, "langchaingo has mended Q4")
	require.Equal(t, "Do not send it.", res.Choices[0].Content)

	for name, client := range map[string]*http.Client{"our client": langchain.Client(nil), "another client": nil} {
		t.Run(name, func(t *testing.T) {
			_, _, err := streamed(t.Context(), wrap(t, openAI(t, url, client), langchain.Config{Stream: true}), user("May I?"))
			require.Equal(t, llm.Truncated, llm.KindOf(err), "%v", err)
		})
	}
}

// A server that does what streams of tool calls would be for, and counts
// whether it was asked to stream.
func toolServer(t *testing.T, streams *int) string {
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		var ask struct {
			Stream bool `json:"stream"`
		}
		_ = json.NewDecoder(r.Body).Decode(&ask)
		if !ask.Stream {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"choices":[{"message":{"tool_calls":[
				{"id":"a","type":"function","function":{"name":"lookup","arguments":"{\"x\":1}"}},
				{"id":"b","type":"function","function":{"name":"lookup","arguments":"{\"x\":2}"}}]},"finish_reason":"tool_calls"}]}`)
			return
		}
		*streams++
		delta := `{"choices":[{"index":0,"delta":{"tool_calls":[%s]}}]}`
		events(
			fmt.Sprintf(delta, `{"index":0,"id":"a","type":"function","function":{"name":"lookup","arguments":""}}`),
			fmt.Sprintf(delta, `{"index":1,"id":"b","type":"function","function":{"name":"lookup","arguments":""}}`),
			fmt.Sprintf(delta, `{"index":0,"function":{"arguments":"{\"x\":1}"}}`),
			fmt.Sprintf(delta, `{"index":1,"function":{"arguments":"{\"x\":2}"}}`),
			`{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`, `[DONE]`,
		)(w, r)
	})
}

func TestQ5TurnsWithToolsOrASchemaAreNotStreamed(t *testing.T) {
	streams := 0
	url := toolServer(t, &streams)
	res, err := bare(t.Context(), openAI(t, url, nil), llms.WithTools([]llms.Tool{{Type: "function", Function: &llms.FunctionDefinition{Name: "lookup"}}}))
	require.NoError(t, err)
	require.Equal(t, `{"x":1}{"x":2}`, res.Choices[0].ToolCalls[1].FunctionCall.Arguments, "langchaingo has mended Q5")
	require.Equal(t, 1, streams)

	m := wrap(t, openAI(t, url, langchain.Client(nil)), langchain.Config{Tools: true, Stream: true})
	shown, ours, err := streamed(t.Context(), m, withTool(user("hello")))
	require.NoError(t, err)
	require.Empty(t, shown, "no JSON of deltas is shown")
	require.Equal(t, 1, streams, "the turn was streamed")
	require.JSONEq(t, `{"x":1}`, string(ours.Calls[0].Arguments))
	require.JSONEq(t, `{"x":2}`, string(ours.Calls[1].Arguments))

	req := user("hello")
	req.Schema = json.RawMessage(`{"type":"object"}`)
	_, _, _ = streamed(t.Context(), m, req)
	require.Equal(t, 1, streams, "the turn was streamed")
}

func TestQ5CallsWhoseArgumentsAreNotOneJSONValueAreMalformed(t *testing.T) {
	for _, arguments := range []string{"", `{\"x\":1}{\"y\":2}`, `{\"x\":`} {
		url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = fmt.Fprintf(w, `{"choices":[{"message":{"tool_calls":[{"id":"a","type":"function","function":{"name":"lookup","arguments":"%s"}}]},"finish_reason":"tool_calls"}]}`, arguments)
		})
		m := wrap(t, openAI(t, url, langchain.Client(nil)), langchain.Config{Tools: true})
		_, err := m.Generate(t.Context(), withTool(user("hello")))
		require.Equal(t, llm.Malformed, llm.KindOf(err), "%v", err)
	}
}

func TestQ6NamelessCallIsMalformed(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"choices":[{"message":{"tool_calls":[{"id":"a","type":"function","function":{"arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`)
	})
	m := wrap(t, openAI(t, url, langchain.Client(nil)), langchain.Config{Tools: true})
	_, err := m.Generate(t.Context(), withTool(user("hello")))
	require.Equal(t, llm.Malformed, llm.KindOf(err), "%v", err)
}

func TestQ7LongLineOfAStreamIsATypedErrorAndNoneWhereNothingIsStreamed(t *testing.T) {
	long := strings.Repeat("long ", 14<<10)
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var ask struct {
			Stream bool `json:"stream"`
		}
		_ = json.NewDecoder(r.Body).Decode(&ask)
		if ask.Stream {
			events(text(long), stop, `[DONE]`)(w, r)
			return
		}
		_, _ = fmt.Fprintf(w, `{"choices":[{"message":{"content":%q},"finish_reason":"stop"}]}`, long)
	})
	_, _, err := streamed(t.Context(), wrap(t, openAI(t, url, langchain.Client(nil)), langchain.Config{Stream: true}), user("hello"))
	require.Equal(t, llm.Malformed, llm.KindOf(err), "%v", err)

	shown, res, err := streamed(t.Context(), wrap(t, openAI(t, url, langchain.Client(nil)), langchain.Config{}), user("hello"))
	require.NoError(t, err)
	require.Equal(t, long, shown)
	require.Equal(t, long, res.Text)
}

func TestQ8FailedRequestsAreTypedAndKeepRetryAfter(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		kind   llm.Kind
	}{
		{429, `{"error":{"message":"slow down"}}`, llm.RateLimited},
		{401, `{"error":{"message":"no key"}}`, llm.Auth},
		{503, `busy`, llm.Unavailable},
		{400, `{"error":{"message":"too much","code":"context_length_exceeded"}}`, llm.TooLong},
		{400, `{"error":{"message":"400 rows copied, rate limit of the text not reached"}}`, llm.BadRequest},
		{302, ``, llm.BadRequest},
	} {
		url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "7")
			w.Header().Set("Location", "http://127.0.0.1:1/elsewhere")
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		})
		for _, provider := range []llms.Model{openAI(t, url, langchain.Client(nil)), ollamaLLM(t, url, langchain.Client(nil))} {
			_, err := wrap(t, provider, langchain.Config{}).Generate(t.Context(), user("hello"))
			e, ok := errors.AsType[*llm.Error](err)
			require.True(t, ok, "%T: %d: %v", provider, c.status, err)
			require.Equal(t, c.kind, e.Kind, "%T: %d: %v", provider, c.status, err)
			require.Equal(t, c.status, e.Status)
			if e.Kind == llm.RateLimited || e.Kind == llm.Unavailable {
				require.Equal(t, 7*time.Second, e.RetryAfter)
			}
		}
	}
	_, err := wrap(t, openAI(t, "http://127.0.0.1:1", langchain.Client(nil)), langchain.Config{}).Generate(t.Context(), user("hello"))
	require.Equal(t, llm.Unavailable, llm.KindOf(err), "%v", err)
}

func TestQ9SchemaIsSentPerRequestAsAForcedTool(t *testing.T) {
	var sent []byte
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		sent, _ = io.ReadAll(r.Body)
		_, _ = io.WriteString(w, `{"choices":[{"message":{"tool_calls":[{"id":"a","type":"function","function":{"name":"reply","arguments":"{\"day\":\"today\",\"note\":null}"}}]},"finish_reason":"stop"}]}`)
	})
	req := user("hello")
	req.Schema = json.RawMessage(`{"type":"object","properties":{"day":{"type":"string","pattern":"^t"},"note":{"type":"string"}},"required":["day"]}`)
	res, err := wrap(t, openAI(t, url, langchain.Client(nil)), langchain.Config{Tools: true}).Generate(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, `{"day":"today"}`, res.Text)
	require.Contains(t, string(sent), `"tool_choice":{"type":"function","function":{"name":"reply"}}`)
	require.NotContains(t, string(sent), "pattern")
}

func TestQ14ContextsThatEndAreRecognised(t *testing.T) {
	url := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	for _, provider := range []llms.Model{openAI(t, url, langchain.Client(nil)), openAI(t, url, nil), ollamaLLM(t, url, langchain.Client(nil))} {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		_, err := wrap(t, provider, langchain.Config{}).Generate(ctx, user("hello"))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		cancel()

		ctx, cancel = context.WithCancel(t.Context())
		time.AfterFunc(30*time.Millisecond, cancel)
		_, err = wrap(t, provider, langchain.Config{}).Generate(ctx, user("hello"))
		require.ErrorIs(t, err, context.Canceled)
	}
}

func TestQ16EachToolResultIsAMessageOfItsOwn(t *testing.T) {
	var sent struct {
		Messages []struct {
			Role string `json:"role"`
			ID   string `json:"tool_call_id"`
		} `json:"messages"`
	}
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_ = json.NewDecoder(r.Body).Decode(&sent)
		_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"both"},"finish_reason":"stop"}]}`)
	})
	req := withTool(user("hello"))
	req.Messages = append(req.Messages,
		llm.Message{Role: llm.Assistant, Calls: []llm.ToolCall{
			{ID: "a", Name: "lookup", Arguments: json.RawMessage(`{"x":1}`)}, {ID: "b", Name: "lookup", Arguments: json.RawMessage(`{"x":2}`)}}},
		llm.Message{Role: llm.ToolResult, CallID: "a", Text: "1"},
		llm.Message{Role: llm.ToolResult, CallID: "b", Text: "2"},
	)
	_, err := wrap(t, openAI(t, url, langchain.Client(nil)), langchain.Config{Tools: true}).Generate(t.Context(), req)
	require.NoError(t, err)
	require.Len(t, sent.Messages, 4)
	require.Equal(t, "a", sent.Messages[2].ID)
	require.Equal(t, "b", sent.Messages[3].ID)
}

func TestQ17PanicOfTheProviderIsAnError(t *testing.T) {
	url := serve(t, events(`{"choices":[{"index":0,"delta":{"function_call":{"name":"f","arguments":"{}"}},"finish_reason":"function_call"}]}`, `[DONE]`))
	require.Panics(t, func() { _, _ = bare(t.Context(), openAI(t, url, nil)) }, "langchaingo has mended Q17")
	for _, client := range []*http.Client{nil, langchain.Client(nil)} {
		_, _, err := streamed(t.Context(), wrap(t, openAI(t, url, client), langchain.Config{Stream: true}), user("hello"))
		require.Equal(t, llm.Malformed, llm.KindOf(err), "%v", err)
	}
}

func TestQ18BrokenAndErrorChunksOfAStreamAreErrors(t *testing.T) {
	for chunk, kind := range map[string]llm.Kind{
		`{"choices":[{"delta":{"content":"send `:                      llm.Malformed,
		`{"error":{"message":"the worker died","code":500}}`:          llm.Unavailable,
		`{"error":{"message":"slow down","type":"rate_limit_error"}}`: llm.RateLimited,
	} {
		url := serve(t, events(text("Do not "), chunk, text("it"), stop, `[DONE]`))
		res, err := bare(t.Context(), openAI(t, url, nil))
		require.NoError(t, err, "langchaingo has mended Q18")
		require.Equal(t, "Do not it", res.Choices[0].Content)

		shown, _, err := streamed(t.Context(), wrap(t, openAI(t, url, langchain.Client(nil)), langchain.Config{Stream: true}), user("May I?"))
		require.Equal(t, kind, llm.KindOf(err), "%v", err)
		require.NotContains(t, shown, "it")
	}
}

func TestRawJSONOfDeltasIsNeverShown(t *testing.T) {
	url := serve(t, events(`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"lookup","arguments":"{}"}}]}}]}`,
		`{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`, `[DONE]`))
	shown, _, err := streamed(t.Context(), wrap(t, openAI(t, url, langchain.Client(nil)), langchain.Config{Stream: true}), user("hello"))
	require.Equal(t, llm.Malformed, llm.KindOf(err), "%v", err)
	require.Empty(t, shown)
}
