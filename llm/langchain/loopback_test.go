package langchain_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/ollama"
	"github.com/tmc/langchaingo/llms/openai"

	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/llm/langchain"
)

// serve starts a loopback server that answers each request with handle.
func serve(t *testing.T, handle http.HandlerFunc) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// A server notices that its client is gone only once the body is read.
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		handle(w, r)
	}))
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s.URL
}

// events answers with server-sent events.
func events(lines ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, line := range lines {
			_, _ = fmt.Fprintf(w, "data: %s\n\n", line)
		}
	}
}

// text is an event that brings text.
func text(s string) string {
	return fmt.Sprintf(`{"choices":[{"index":0,"delta":{"content":%q}}]}`, s)
}

const stop = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`

func openAI(t *testing.T, url string, client *http.Client) *openai.LLM {
	if client == nil {
		client = http.DefaultClient // as a program that does not know ours
	}
	m, err := openai.New(openai.WithBaseURL(url), openai.WithToken("sk-secret"), openai.WithModel("test"), openai.WithHTTPClient(client))
	require.NoError(t, err)
	return m
}

func ollamaLLM(t *testing.T, url string, client *http.Client) *ollama.LLM {
	m, err := ollama.New(ollama.WithServerURL(url), ollama.WithModel("test"), ollama.WithHTTPClient(client))
	require.NoError(t, err)
	return m
}

func wrap(t *testing.T, m llms.Model, cfg langchain.Config) *langchain.Model {
	w, err := langchain.New(m, cfg)
	require.NoError(t, err)
	return w
}

func user(s string) *llm.Request {
	return &llm.Request{Messages: []llm.Message{{Role: llm.User, Text: s}}}
}

// bare asks the provider itself for a stream.
func bare(ctx context.Context, m llms.Model, opts ...llms.CallOption) (*llms.ContentResponse, error) {
	opts = append(opts, llms.WithStreamingFunc(func(context.Context, []byte) error { return nil }))
	return m.GenerateContent(ctx, []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "hello")}, opts...)
}

// streamed drains a stream.
func streamed(ctx context.Context, m llm.LLM, req *llm.Request) (shown string, res *llm.Response, err error) {
	for c, e := range llm.Stream(ctx, m, req) {
		shown += c.Text
		res, err = c.Response, e
	}
	return shown, res, err
}

var lookup = llm.Tool{Name: "lookup", Parameters: json.RawMessage(`{"type":"object","properties":{"x":{"type":"integer"}},"required":["x"]}`)}

func withTool(req *llm.Request) *llm.Request {
	req.Tools = []llm.Tool{lookup}
	return req
}
