package langchain_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/llm/langchain"
)

func TestQ1OllamaWithToolsIsRefusedAtConstruction(t *testing.T) {
	_, err := langchain.New(ollamaLLM(t, "http://127.0.0.1:1", langchain.Client(nil)), langchain.Config{Tools: true})
	require.ErrorContains(t, err, "/v1")

	m := wrap(t, ollamaLLM(t, "http://127.0.0.1:1", langchain.Client(nil)), langchain.Config{})
	require.Equal(t, llm.Capabilities{}, m.Capabilities())
	_, err = m.Generate(t.Context(), withTool(user("hello")))
	require.Equal(t, llm.BadRequest, llm.KindOf(err), "%v", err)
}

func TestQ2OllamaWithToolCallsInTheHistoryIsRefusedBeforeSending(t *testing.T) {
	asked := false
	url := serve(t, func(http.ResponseWriter, *http.Request) { asked = true })
	m := wrap(t, ollamaLLM(t, url, langchain.Client(nil)), langchain.Config{})
	for _, msg := range []llm.Message{
		{Role: llm.Assistant, Calls: []llm.ToolCall{{ID: "a", Name: "lookup", Arguments: json.RawMessage(`{}`)}}},
		{Role: llm.ToolResult, CallID: "a", Text: "5"},
	} {
		_, err := m.Generate(t.Context(), &llm.Request{Messages: []llm.Message{msg}})
		require.Equal(t, llm.BadRequest, llm.KindOf(err), "%v", err)
	}
	require.False(t, asked)
}

// done is an ollama line that ends a reply.
const done = `{"message":{"role":"assistant","content":""},"done":true,"done_reason":"%s"}` + "\n"

func TestQ11CancelledOllamaStreamIsTheContextsError(t *testing.T) {
	cause := errors.New("the user left")
	for range 10 {
		ctx, cancel := context.WithCancelCause(t.Context())
		url := serve(t, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, `{"message":{"role":"assistant","content":"Do not "},"done":false}`+"\n")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		})
		m := wrap(t, ollamaLLM(t, url, langchain.Client(nil)), langchain.Config{Stream: true})
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

func TestQ12OllamaReplyThatIsCutIsTruncated(t *testing.T) {
	part := `{"message":{"role":"assistant","content":"Do not "},"done":false}` + "\n"
	for name, body := range map[string]string{
		"no end": part, "token limit": part + fmt.Sprintf(done, "length"), "nothing": "",
	} {
		url := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) })
		for _, cfg := range []langchain.Config{{}, {Stream: true}} {
			_, _, err := streamed(t.Context(), wrap(t, ollamaLLM(t, url, langchain.Client(nil)), cfg), user("May I?"))
			require.Equal(t, llm.Truncated, llm.KindOf(err), "%s: %v", name, err)
		}
	}
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, part+fmt.Sprintf(done, "stop")) })
	for _, cfg := range []langchain.Config{{}, {Stream: true}} {
		shown, res, err := streamed(t.Context(), wrap(t, ollamaLLM(t, url, langchain.Client(nil)), cfg), user("May I?"))
		require.NoError(t, err)
		require.Equal(t, "Do not ", shown)
		require.Equal(t, "Do not ", res.Text)
	}
	_, err := wrap(t, ollamaLLM(t, url, http.DefaultClient), langchain.Config{}).Generate(t.Context(), user("May I?"))
	require.ErrorContains(t, err, "langchain.Client")
}

func TestQ13TemperatureIsAlwaysSentAndARequestsOwnIsKept(t *testing.T) {
	var sent []byte
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		sent, _ = io.ReadAll(r.Body)
		_, _ = fmt.Fprintf(w, done, "stop")
	})
	m := wrap(t, ollamaLLM(t, url, langchain.Client(nil)), langchain.Config{})
	req := user("hello")
	req.Temperature = new(0.5)
	_, err := m.Generate(t.Context(), req)
	require.NoError(t, err)
	require.Contains(t, string(sent), `"temperature":0.5`)
	_, err = m.Generate(t.Context(), user("hello"))
	require.NoError(t, err)
	require.Contains(t, string(sent), `"temperature":0`, "as the package comment says")
}
