package langchain_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/openai"

	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/llm/langchain"
)

// modelFunc is a model of somebody else's.
type modelFunc func(ctx context.Context, messages []llms.MessageContent, options ...llms.CallOption) (*llms.ContentResponse, error)

func (f modelFunc) GenerateContent(ctx context.Context, messages []llms.MessageContent, options ...llms.CallOption) (*llms.ContentResponse, error) {
	return f(ctx, messages, options...)
}

func (f modelFunc) Call(context.Context, string, ...llms.CallOption) (string, error) {
	panic("never called")
}

func answering(choices ...*llms.ContentChoice) modelFunc {
	return func(context.Context, []llms.MessageContent, ...llms.CallOption) (*llms.ContentResponse, error) {
		return &llms.ContentResponse{Choices: choices}, nil
	}
}

func TestNewRefusesWhatIsNoModel(t *testing.T) {
	_, err := langchain.New(nil, langchain.Config{})
	require.Error(t, err)
	_, err = langchain.New((*openai.LLM)(nil), langchain.Config{})
	require.Error(t, err)
	_, err = langchain.New(answering(), langchain.Config{MaxTokens: -1})
	require.Error(t, err)
	_, err = langchain.New(answering(), langchain.Config{Tools: true})
	require.NoError(t, err, "a model that is not langchaingo's own may send tools")
}

func TestStopReasonsOfProviders(t *testing.T) {
	for reason, kind := range map[string]llm.Kind{
		"stop": llm.Unknown, "end_turn": llm.Unknown, "FinishReasonStop": llm.Unknown, "": llm.Unknown,
		"max_tokens": llm.Truncated, "FinishReasonMaxTokens": llm.Truncated, "length": llm.Truncated,
		"content_filter": llm.Filtered, "FinishReasonSafety": llm.Filtered, "refusal": llm.Filtered,
		"whim": llm.Malformed,
	} {
		res, err := wrap(t, answering(&llms.ContentChoice{Content: "x", StopReason: reason}), langchain.Config{}).Generate(t.Context(), user("hello"))
		if kind == llm.Unknown {
			require.NoError(t, err, reason)
			require.Equal(t, "x", res.Text)
			continue
		}
		require.Equal(t, kind, llm.KindOf(err), reason)
		require.Nil(t, res)
	}
}

func TestChoicesOfOneReplyArePutTogether(t *testing.T) {
	m := wrap(t, answering(
		&llms.ContentChoice{Content: "Let me see.", StopReason: "tool_use", GenerationInfo: map[string]any{"InputTokens": 3, "OutputTokens": int64(4)}},
		&llms.ContentChoice{StopReason: "tool_use", ToolCalls: []llms.ToolCall{{ID: "a", FunctionCall: &llms.FunctionCall{Name: "lookup", Arguments: `{"x":1}`}}}},
	), langchain.Config{Tools: true})
	res, err := m.Generate(t.Context(), withTool(user("hello")))
	require.NoError(t, err)
	require.Equal(t, "Let me see.", res.Text)
	require.Equal(t, llm.FinishTools, res.Finish)
	require.Equal(t, llm.Usage{InputTokens: 3, OutputTokens: 4}, res.Usage)
}

func TestProvidersThatReturnNonsense(t *testing.T) {
	call := llms.ToolCall{ID: "a"}
	for name, m := range map[string]modelFunc{
		"nothing": func(context.Context, []llms.MessageContent, ...llms.CallOption) (*llms.ContentResponse, error) {
			return nil, nil
		},
		"no choices":          answering(),
		"nil choice":          answering(nil),
		"call without a name": answering(&llms.ContentChoice{ToolCalls: []llms.ToolCall{call}}),
		"panic": func(context.Context, []llms.MessageContent, ...llms.CallOption) (*llms.ContentResponse, error) {
			panic("boom")
		},
		"legacy function call": answering(&llms.ContentChoice{FuncCall: &llms.FunctionCall{Name: "f", Arguments: "{}"}}),
	} {
		res, err := wrap(t, m, langchain.Config{Tools: true}).Generate(t.Context(), withTool(user("hello")))
		require.Nil(t, res, name)
		require.Equal(t, llm.Malformed, llm.KindOf(err), "%s: %v", name, err)
	}
}

func TestStreamingFunctionMayBeCalledFromAnyGoroutine(t *testing.T) {
	m := wrap(t, modelFunc(func(ctx context.Context, _ []llms.MessageContent, options ...llms.CallOption) (*llms.ContentResponse, error) {
		var o llms.CallOptions
		for _, option := range options {
			option(&o)
		}
		done := make(chan error)
		go func() {
			var err error
			for i := 0; i < 3 && err == nil; i++ {
				err = o.StreamingFunc(ctx, fmt.Appendf(nil, "%d", i))
			}
			done <- err
		}()
		if err := <-done; err != nil {
			return nil, err
		}
		return &llms.ContentResponse{Choices: []*llms.ContentChoice{{Content: "012", StopReason: "stop"}}}, nil
	}), langchain.Config{Stream: true})
	shown, res, err := streamed(t.Context(), m, user("count"))
	require.NoError(t, err)
	require.Equal(t, "012", shown)
	require.Equal(t, "012", res.Text)
	for _, err := range m.Stream(t.Context(), user("count")) {
		require.NoError(t, err)
		break
	}
	require.PanicsWithValue(t, "mine", func() {
		for _, err := range m.Stream(t.Context(), user("count")) {
			require.NoError(t, err)
			panic("mine")
		}
	})
}

func ExampleNew() {
	// In place of a model's server.
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "30")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, `{"error":{"message":"slow down"}}`)
	}))
	defer server.Close()

	provider, err := openai.New(
		openai.WithBaseURL(server.URL), openai.WithToken("none"), openai.WithModel("gpt-4o-mini"),
		openai.WithHTTPClient(langchain.Client(nil)),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	model, err := langchain.New(provider, langchain.Config{Tools: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = model.Generate(context.Background(), &llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "Hello?"}}})
	fmt.Println(llm.KindOf(err))
	// Output: rate limited
}
