package langchain

import (
	"context"
	"errors"
	"fmt"

	"github.com/tmc/langchaingo/llms"

	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/llm/internal/provider"
)

// call asks the provider, and trusts nothing of what it says about how that
// went: the context, the exchange that our HTTP client saw, and the stop reason
// are looked at first.
func (m *Model) call(ctx context.Context, t *turn, show func(context.Context, []byte) error) (*llm.Response, error) {
	options := t.options()
	if show != nil {
		options = append(options, llms.WithStreamingFunc(show))
	}
	x := &exchange{keep: show == nil || m.ollama, strict: show != nil}
	res, err := contained(context.WithValue(ctx, exchangeKey{}, x), m.model, t.messages, options)
	if ended := provider.Ended(ctx, "langchain"); ended != nil {
		return nil, ended // whatever else was said: a cut stream comes with a nil error
	}
	if err != nil {
		return nil, x.explain(err)
	}
	if failed := x.failure(); failed != nil {
		return nil, failed // the provider did not look
	}
	if res == nil || len(res.Choices) == 0 {
		return nil, provider.Errorf(llm.Malformed, "the provider returned neither a reply nor an error")
	}
	if m.ollama {
		err = x.ollamaFinished()
	} else {
		err = finished(res.Choices, show != nil)
	}
	if err != nil {
		return nil, err
	}
	return t.response(res.Choices)
}

// contained calls the provider and turns a panic of it into an error. A stream
// with the legacy function_call makes langchaingo dereference nil.
func contained(ctx context.Context, m llms.Model, messages []llms.MessageContent, options []llms.CallOption) (res *llms.ContentResponse, err error) {
	defer func() {
		if p := recover(); p != nil {
			res, err = nil, provider.Errorf(llm.Malformed, "the provider panicked, as it does on replies that it does not expect: %v", p)
		}
	}()
	return m.GenerateContent(ctx, messages, options...)
}

// explain makes a typed error of what the provider said, with what our client
// saw.
func (x *exchange) explain(err error) error {
	if e, ok := errors.AsType[*llm.Error](err); ok {
		return e
	}
	if e := x.failure(); e != nil {
		return e
	}
	kind := llm.Unknown
	if x.seen() {
		kind = llm.Malformed // a whole reply with status 200, which the provider could not read
	}
	return &llm.Error{Kind: kind, Err: fmt.Errorf("the provider says: %w", err)}
}
