package openai

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/llm"
)

// The decoders are fuzzed without HTTP, hence from within the package.

func fuzzedTurn(t testing.TB) *turn {
	c, err := New(Config{BaseURL: "http://127.0.0.1:1/v1", Model: "m", Tools: true, Schema: ForcedTool})
	require.NoError(t, err)
	turn, err := c.turn(&llm.Request{
		Messages: []llm.Message{{Role: llm.User, Text: "x"}},
		Tools:    []llm.Tool{{Name: "f.g", Parameters: []byte(`{"type":"object","properties":{"x":{"type":"string"}}}`)}},
		Schema:   []byte(`{"type":"object","properties":{"a":{"type":"integer"}}}`),
	})
	require.NoError(t, err)
	return turn
}

// checkDecoded demands what holds of everything that is decoded.
func checkDecoded(t *testing.T, res *llm.Response, err error) {
	if err != nil {
		require.Nil(t, res)
		require.ErrorAs(t, err, new(*llm.Error))
		return
	}
	require.Equal(t, len(res.Calls) > 0, res.Finish == llm.FinishTools)
	seen := map[string]bool{}
	for _, c := range res.Calls {
		require.True(t, json.Valid(c.Arguments))
		require.NotEmpty(t, c.Name)
		require.False(t, seen[c.ID])
		seen[c.ID] = true
	}
}

func FuzzReply(f *testing.F) {
	for _, s := range []string{
		`{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}`,
		`{"choices":[{"message":{"content":[{"type":"text","text":"a"}],"tool_calls":[{"id":"a","function":{"name":"f_g","arguments":"{\"x\":null}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":1}}`,
		`{"choices":[{"message":{"tool_calls":[{"function":{"name":"reply","arguments":{"a":1}}}]},"finish_reason":"stop"}]}`,
		`{"error":[{"code":"429"}]}`,
		`{"choices":[{"message":{"tool_calls":[{"function":{"arguments":{}}}]},"finish_reason":"stop"}]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		res, err := fuzzedTurn(t).decode(limit(bytes.NewReader(body), 1<<20))
		checkDecoded(t, res, err)
	})
}

func FuzzStream(f *testing.F) {
	for _, s := range []string{
		"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
		"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f_g\",\"arguments\":\"{}\"}}]},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
		"event: error\ndata: {\"error\":{}}\n\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var shown bytes.Buffer
		res, err := fuzzedTurn(t).assemble(limit(bytes.NewReader(body), 1<<20), func(s string) bool { shown.WriteString(s); return true })
		if err != nil {
			require.Nil(t, res)
			require.ErrorAs(t, err, new(*llm.Error))
			return
		}
		checkDecoded(t, res, err)
		require.LessOrEqual(t, shown.Len(), len(body))
	})
}
