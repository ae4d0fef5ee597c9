package llm_test

import (
	"context"
	"fmt"
	"time"

	"github.com/isolategpt/isolategpt/llm"
)

func ExampleRetry() {
	tries := 0
	busy := llm.Func(func(context.Context, *llm.Request) (*llm.Response, error) {
		if tries++; tries < 3 {
			return nil, &llm.Error{Kind: llm.RateLimited}
		}
		return &llm.Response{Text: "Hello.", Finish: llm.FinishStop}, nil
	})
	budget := llm.NewBudget(llm.BudgetConfig{MaxCalls: 10, MaxTokens: llm.NoLimit})
	// The budget is outside of the retries, so they count as one call.
	model := llm.Chain(busy, llm.Safe, budget.Wrap, llm.Retry(llm.RetryConfig{Base: time.Millisecond}), llm.Timeout(time.Minute))

	res, err := model.Generate(context.Background(), &llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "Hello?"}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	calls, _ := budget.Used()
	fmt.Println(res.Text, tries, "tries,", calls, "call")
	// Output: Hello. 3 tries, 1 call
}

func ExampleProject() {
	p, err := llm.Project([]byte(`{
		"type": "object",
		"properties": {"city": {"type": "string", "pattern": "^[A-Z]"}, "zip": {"type": "string"}},
		"required": ["city"]
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(p.Schema))
	restored, err := p.Restore([]byte(`{"city":"Rome","zip":null}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(restored))
	// Output:
	// {"type":"object","properties":{"city":{"type":"string"},"zip":{"type":["string","null"]}},"required":["city","zip"],"additionalProperties":false}
	// {"city":"Rome"}
}
