package main

import (
	"context"
	"os"

	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/llm/openai"
)

func open(name, baseURL string) (llm.LLM, error) {
	if name == "" {
		return canned, nil
	}
	return openai.New(openai.Config{BaseURL: baseURL, APIKey: os.Getenv("OPENAI_API_KEY"), Model: name, Schema: openai.ResponseFormat})
}

// canned is what a model writes for the request that the program has by itself.
// The hub checks it like any other plan.
var canned = llm.Func(func(context.Context, *llm.Request) (*llm.Response, error) {
	return &llm.Response{Finish: llm.FinishStop, Text: `{
		"steps": [
			{"id": "s1", "do": "call", "functionality": "weather.now", "args": {"city": "Oslo"}},
			{"id": "s2", "do": "call", "functionality": "note.save", "args": {"degrees": {"step": "s1", "pointer": "/degrees"}}}
		],
		"answer": {"template": ["It is ", {"step": "s1", "pointer": "/degrees"}, " degrees in Oslo. I noted it as number ", {"step": "s2", "pointer": "/number"}, "."]}
	}`}, nil
})
