package openai_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/llm/llmtest"
	"github.com/isolategpt/isolategpt/llm/openai"
)

func TestClientKeepsThePromisesOfAModel(t *testing.T) {
	for name, cfg := range map[string]openai.Config{
		"words":               {},
		"words, tools":        {Tools: true},
		"response format":     {Schema: openai.ResponseFormat},
		"strict, all":         {Schema: openai.ResponseFormat, Tools: true, Strict: true},
		"forced tool":         {Schema: openai.ForcedTool, Tools: true},
		"forced tool, strict": {Schema: openai.ForcedTool, Tools: true, Strict: true},
	} {
		t.Run(name, func(t *testing.T) {
			llmtest.TestLLM(t, func(t *testing.T, script ...llmtest.Exchange) llm.LLM {
				cfg.BaseURL, cfg.Model, cfg.APIKey = llmtest.NewServer(t, script...).URL, "test", "sk-secret"
				m, err := openai.New(cfg)
				require.NoError(t, err)
				return m
			})
		})
	}
}
