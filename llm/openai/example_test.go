package openai_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/llm/openai"
)

func ExampleNew() {
	// In place of a model's server.
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"{\"city\":\"Rome\",\"zip\":null}"},"finish_reason":"stop"}]}`)
	}))
	defer server.Close()

	model, err := openai.New(openai.Config{BaseURL: server.URL + "/v1", Model: "qwen2.5", Schema: openai.ResponseFormat})
	if err != nil {
		fmt.Println(err)
		return
	}
	m := llm.Chain(model, llm.Safe, llm.Retry(llm.RetryConfig{}), llm.Timeout(time.Minute))
	res, err := m.Generate(context.Background(), &llm.Request{
		Messages: []llm.Message{{Role: llm.User, Text: "Which city is the capital of Italy?"}},
		Schema:   []byte(`{"type":"object","properties":{"city":{"type":"string"},"zip":{"type":"string"}},"required":["city"]}`),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(res.Text)
	// Output: {"city":"Rome"}
}
