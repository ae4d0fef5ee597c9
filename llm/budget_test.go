package llm_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/llm"
)

func using(in, out int) *fake {
	return &fake{answer: func(context.Context, int, *llm.Request) (*llm.Response, error) {
		return &llm.Response{Text: "x", Finish: llm.FinishStop, Usage: llm.Usage{InputTokens: in, OutputTokens: out}}, nil
	}}
}

func TestBudgetOfZeroAllowsNothing(t *testing.T) {
	for _, cfg := range []llm.BudgetConfig{{}, {MaxCalls: 5}, {MaxTokens: 1000}} {
		f := using(1, 1)
		_, err := llm.NewBudget(cfg).Wrap(f).Generate(t.Context(), user("hello"))
		require.Equal(t, llm.OverBudget, llm.KindOf(err))
		require.Zero(t, f.calls, "nothing is sent")
	}
}

func TestBudgetIsSharedByItsModelsAndBothWaysOfAsking(t *testing.T) {
	b := llm.NewBudget(llm.BudgetConfig{MaxCalls: 3, MaxTokens: llm.NoLimit})
	one, two := using(10, 5), using(10, 5)
	_, err := b.Wrap(one).Generate(t.Context(), user("hello"))
	require.NoError(t, err)
	_, _, err = drain(llm.Stream(t.Context(), b.Wrap(two), user("hello")))
	require.NoError(t, err)
	_, err = b.Wrap(two).Generate(t.Context(), user("hello"))
	require.NoError(t, err)
	_, err = b.Wrap(one).Generate(t.Context(), user("hello"))
	require.Equal(t, llm.OverBudget, llm.KindOf(err))
	_, _, err = drain(llm.Stream(t.Context(), b.Wrap(one), user("hello")))
	require.Equal(t, llm.OverBudget, llm.KindOf(err))
	calls, tokens := b.Used()
	require.Equal(t, 3, calls)
	require.Equal(t, 45, tokens)
}

func TestBudgetCountsTokens(t *testing.T) {
	b := llm.NewBudget(llm.BudgetConfig{MaxCalls: llm.NoLimit, MaxTokens: 100})
	_, err := b.Wrap(using(1, 1)).Generate(t.Context(), user(strings.Repeat("word", 101)))
	require.Equal(t, llm.OverBudget, llm.KindOf(err), "a prompt that cannot fit is not sent")
	_, err = b.Wrap(using(60, 30)).Generate(t.Context(), user("hello"))
	require.NoError(t, err)
	_, err = b.Wrap(using(5, 5)).Generate(t.Context(), user(strings.Repeat("word", 11)))
	require.Equal(t, llm.OverBudget, llm.KindOf(err))

	b = llm.NewBudget(llm.BudgetConfig{MaxCalls: llm.NoLimit, MaxTokens: 100})
	_, err = b.Wrap(using(0, 0)).Generate(t.Context(), user(strings.Repeat("word", 20)))
	require.NoError(t, err)
	_, tokens := b.Used()
	require.Equal(t, 21, tokens, "a server that counts nothing is charged the estimate")

	_, err = b.Wrap(using(-500, -500)).Generate(t.Context(), user("hello"))
	require.NoError(t, err)
	_, after := b.Used()
	require.Greater(t, after, tokens, "nobody gets tokens back by counting below zero")

	_, err = b.Wrap(using(-500, 50)).Generate(t.Context(), user("hello"))
	require.NoError(t, err)
	_, last := b.Used()
	require.Equal(t, after+50, last)
}

func TestBudgetChargesFailuresThatRanTheModel(t *testing.T) {
	for kind, want := range map[llm.Kind]int{llm.RateLimited: 0, llm.Auth: 0, llm.Truncated: 2, llm.Filtered: 2} {
		b := llm.NewBudget(llm.BudgetConfig{MaxCalls: 1, MaxTokens: 100})
		_, err := b.Wrap(&fake{answer: failing(&llm.Error{Kind: kind})}).Generate(t.Context(), user("hello"))
		require.Equal(t, kind, llm.KindOf(err))
		calls, tokens := b.Used()
		require.Equal(t, 1, calls)
		require.Equal(t, want, tokens, "%s", kind)
	}
}

func TestBudgetHoldsUnderConcurrency(t *testing.T) {
	var sent atomic.Int32
	m := llm.NewBudget(llm.BudgetConfig{MaxCalls: 10, MaxTokens: llm.NoLimit}).Wrap(
		llm.Func(func(context.Context, *llm.Request) (*llm.Response, error) {
			sent.Add(1)
			return &llm.Response{Finish: llm.FinishStop}, nil
		}))
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() { _, _ = m.Generate(t.Context(), user("hello")) })
	}
	all.Wait()
	require.EqualValues(t, 10, sent.Load())
}
