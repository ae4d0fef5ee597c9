package llm

import (
	"context"
	"fmt"
	"iter"
	"sync"
)

// NoLimit in a [BudgetConfig] means that there is no bound, said by name.
const NoLimit = -1

// BudgetConfig bounds what models may use. Zero allows nothing.
type BudgetConfig struct {
	MaxCalls  int // calls sent; NoLimit for any number
	MaxTokens int // tokens in and out together; NoLimit for any number
}

// Budget is shared by the models that it wraps. It is safe for concurrent use.
//
// A call counts when it is sent, whatever becomes of it, so a [Retry] inside
// the budget is one call and a Retry outside of it is several. The tokens of a
// prompt are estimated and set aside before it is sent, and replaced by what
// the server counted. So the bound on tokens can be passed by the replies of
// the calls that are under way, each of which Request.MaxTokens bounds, and by
// no more. A server that counts nothing is charged the estimate.
type Budget struct {
	cfg BudgetConfig

	mu     sync.Mutex
	calls  int
	tokens int // used or set aside
}

// NewBudget makes a budget that nothing has been taken from.
func NewBudget(cfg BudgetConfig) *Budget { return &Budget{cfg: cfg} }

// Used says how many calls were sent, and how many tokens they took or may take.
func (b *Budget) Used() (calls, tokens int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.calls, b.tokens
}

// Wrap is a [Middleware]. A call that does not fit in what is left fails with
// [OverBudget] and is not sent.
func (b *Budget) Wrap(inner LLM) LLM {
	return &layer{
		inner: inner,
		generate: func(ctx context.Context, req *Request) (*Response, error) {
			aside, err := b.take(req)
			if err != nil {
				return nil, err
			}
			res, err := inner.Generate(ctx, req)
			b.settle(aside, res, err)
			return res, err
		},
		stream: func(ctx context.Context, req *Request) iter.Seq2[Chunk, error] {
			return func(yield func(Chunk, error) bool) { b.streamTo(ctx, inner, req, yield) }
		},
	}
}

func (b *Budget) streamTo(ctx context.Context, inner LLM, req *Request, yield func(Chunk, error) bool) {
	aside, err := b.take(req)
	if err != nil {
		yield(Chunk{}, err)
		return
	}
	res, broke, err := relay(Stream(ctx, inner, req), yield)
	if broke {
		return // the server may go on for a while: the estimate stays charged
	}
	b.settle(aside, res, err)
	yield(Chunk{Response: res}, err)
}

func (b *Budget) take(req *Request) (aside int, err error) {
	aside = estimate(req)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cfg.MaxCalls != NoLimit && b.calls >= b.cfg.MaxCalls {
		return 0, over("%d of %d calls used", b.calls, b.cfg.MaxCalls)
	}
	if b.cfg.MaxTokens != NoLimit && b.tokens+aside > b.cfg.MaxTokens {
		return 0, over("%d of %d tokens used and the prompt has about %d", b.tokens, b.cfg.MaxTokens, aside)
	}
	b.calls++
	b.tokens += aside
	return aside, nil
}

// settle replaces what was set aside by what was used. A call that the server
// turned away without running the model cost no tokens.
func (b *Budget) settle(aside int, res *Response, err error) {
	used := aside
	switch {
	case err != nil:
		switch KindOf(err) {
		case Auth, RateLimited, TooLong, BadRequest, OverBudget:
			used = 0
		}
	case res != nil:
		// Negative counts would give tokens back.
		if n := max(res.Usage.InputTokens, 0) + max(res.Usage.OutputTokens, 0); n > 0 {
			used = n
		} else {
			used = aside + tokensOf(len(res.Text))
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tokens += used - aside
}

func over(format string, args ...any) error {
	return &Error{Kind: OverBudget, Err: fmt.Errorf("budget: "+format, args...)}
}

// estimate is a rough count of a prompt's tokens.
func estimate(req *Request) int {
	if req == nil {
		return 0
	}
	n := len(req.Schema)
	for _, m := range req.Messages {
		n += len(m.Text)
		for _, c := range m.Calls {
			n += len(c.Name) + len(c.Arguments)
		}
	}
	for _, t := range req.Tools {
		n += len(t.Name) + len(t.Description) + len(t.Parameters)
	}
	return tokensOf(n)
}

// tokensOf takes four bytes for a token, which is about right for English
// and JSON.
func tokensOf(bytes int) int { return (bytes + 3) / 4 }
