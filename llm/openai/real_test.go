package openai_test

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/llm/openai"
)

// TestRealServer asks a real model, if ISOLATEGPT_TEST_BASE_URL and
// ISOLATEGPT_TEST_MODEL say which.
func TestRealServer(t *testing.T) {
	base, model := os.Getenv("ISOLATEGPT_TEST_BASE_URL"), os.Getenv("ISOLATEGPT_TEST_MODEL")
	if base == "" || model == "" {
		t.Skip("ISOLATEGPT_TEST_BASE_URL or ISOLATEGPT_TEST_MODEL is not set")
	}
	for _, mode := range []openai.SchemaMode{openai.ResponseFormat, openai.Words} {
		t.Run(mode.String(), func(t *testing.T) {
			client, err := openai.New(openai.Config{BaseURL: base, Model: model, Schema: mode, MaxTokens: 100})
			require.NoError(t, err)
			m := llm.Chain(client, llm.Safe, llm.Timeout(2*time.Minute))

			req := user("Name the capital of Italy. One word.")
			req.Temperature = new(0.0)
			res, err := m.Generate(t.Context(), req)
			require.NoError(t, err)
			require.Contains(t, res.Text, "Rome")
			require.Positive(t, res.Usage.InputTokens)
			require.Positive(t, res.Usage.OutputTokens)

			shown, res, err := streamed(t.Context(), m, req)
			require.NoError(t, err)
			require.Contains(t, shown, "Rome")
			require.Equal(t, res.Text, shown)
			require.Positive(t, res.Usage.OutputTokens)

			req.Schema = json.RawMessage(`{"type":"object","properties":{"city":{"type":"string","minLength":1},"country":{"enum":["Italy","France"]},"note":{"type":"string"}},"required":["city","country"],"additionalProperties":false}`)
			for _, ask := range []func() (*llm.Response, error){
				func() (*llm.Response, error) { return m.Generate(t.Context(), req) },
				func() (*llm.Response, error) { _, res, err := streamed(t.Context(), m, req); return res, err },
			} {
				res, err := ask()
				require.NoError(t, err)
				raw, err := llm.Extract(res.Text)
				require.NoError(t, err, res.Text)
				var got struct{ City, Country string }
				require.NoError(t, json.Unmarshal(raw, &got))
				require.Equal(t, "Rome", got.City)
				require.Equal(t, "Italy", got.Country)
			}

			req.Schema, req.MaxTokens = nil, 3
			req.Messages[0].Text = "Count from one to fifty."
			_, err = m.Generate(t.Context(), req)
			require.Equal(t, llm.Truncated, llm.KindOf(err), "%v", err)
			_, _, err = streamed(t.Context(), m, req)
			require.Equal(t, llm.Truncated, llm.KindOf(err), "%v", err)
		})
	}
}
