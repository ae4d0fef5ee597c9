package llmtest

import (
	"context"
	"fmt"
	"time"

	"github.com/isolategpt/isolategpt/llm"
)

// Const is a model that always answers with text, at no latency.
func Const(text string) llm.LLM {
	return llm.Func(func(ctx context.Context, _ *llm.Request) (*llm.Response, error) {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("llmtest: const: %w", context.Cause(ctx))
		}
		return &llm.Response{Text: text, Finish: llm.FinishStop}, nil
	})
}

// Latency makes each call of m take d longer. In a bubble of testing/synctest
// that is exact and costs no time. The capabilities are m's; a stream's chunks
// come after d all at once.
func Latency(m llm.LLM, d time.Duration) llm.LLM { return late{m, d} }

type late struct {
	llm.LLM
	d time.Duration
}

func (l late) Capabilities() llm.Capabilities { return llm.CapabilitiesOf(l.LLM) }

func (l late) Generate(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	timer := time.NewTimer(l.d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return l.LLM.Generate(ctx, req)
	case <-ctx.Done():
		return nil, fmt.Errorf("llmtest: latency: %w", context.Cause(ctx))
	}
}
