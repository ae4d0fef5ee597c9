// Package llm is what the rest of the library needs of a language model: one
// interface, its requests and replies, typed errors, and middleware.
//
// A reply is whole or it is an error: no adapter gives half an answer with a
// nil error, and none drops a tool or a schema in silence. Middleware keeps the
// capabilities and the streaming of what it wraps. Not guaranteed is anything
// about what a model writes. [Request.Schema] helps it to write well and proves
// nothing, so whoever asks checks the reply against their own format.
//
//	model, err := openai.New(openai.Config{BaseURL: "http://127.0.0.1:8080/v1", Model: "qwen", Schema: openai.ResponseFormat})
//	if err != nil {
//		return err
//	}
//	budget := llm.NewBudget(llm.BudgetConfig{MaxCalls: 20, MaxTokens: 50_000})
//	m := llm.Chain(model, llm.Safe, budget.Wrap, llm.Retry(llm.RetryConfig{}), llm.Timeout(time.Minute))
//	res, err := m.Generate(ctx, &llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "Hello"}}})
//
// # Trust
//
// A model is driven by whatever stands in its prompt, so its replies are
// untrusted. The server is trusted with the prompt and with nothing else: what
// it sends is bounded, decoded strictly and never makes the process panic. A
// key given to an adapter appears in no error and no log.
//
// # Source
//
// Paper §IV-A2 and §IV-B2 (the models of the hub and of the spokes). The rules
// about truncated replies answer langchaingo v0.1.14, whose streams end early
// with a nil error.
package llm
