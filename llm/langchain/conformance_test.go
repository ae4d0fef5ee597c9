package langchain_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms/openai"

	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/llm/langchain"
	"github.com/isolategpt/isolategpt/llm/llmtest"
)

func TestModelKeepsThePromisesOfAModel(t *testing.T) {
	for name, cfg := range map[string]langchain.Config{
		"words":               {},
		"words, streamed":     {Stream: true},
		"tools":               {Tools: true},
		"tools, and streamed": {Tools: true, Stream: true},
	} {
		t.Run(name, func(t *testing.T) {
			llmtest.TestLLM(t, func(t *testing.T, script ...llmtest.Exchange) llm.LLM {
				provider, err := openai.New(
					openai.WithBaseURL(llmtest.NewServer(t, script...).URL),
					openai.WithToken("sk-secret"), openai.WithModel("test"),
					openai.WithHTTPClient(langchain.Client(nil)),
				)
				require.NoError(t, err)
				m, err := langchain.New(provider, cfg)
				require.NoError(t, err)
				return m
			})
		})
	}
}
