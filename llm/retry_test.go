package llm_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/llm"
)

var (
	limited = &llm.Error{Kind: llm.RateLimited}
	down    = &llm.Error{Kind: llm.Unavailable}
)

func TestRetryRepeatsOnlyWhatTimeMayMend(t *testing.T) {
	for kind := llm.Unknown; kind <= llm.OverBudget; kind++ {
		synctest.Test(t, func(t *testing.T) {
			f := &fake{answer: failing(&llm.Error{Kind: kind})}
			_, err := llm.Retry(llm.RetryConfig{})(f).Generate(t.Context(), user("hello"))
			if kind == llm.RateLimited || kind == llm.Unavailable {
				require.NoError(t, err)
				require.Equal(t, 2, f.calls)
				return
			}
			require.Equal(t, kind, llm.KindOf(err))
			require.Equal(t, 1, f.calls)
		})
	}
	f := &fake{answer: failing(errors.New("no *llm.Error"))}
	_, err := llm.Retry(llm.RetryConfig{})(f).Generate(t.Context(), user("hello"))
	require.Error(t, err)
	require.Equal(t, 1, f.calls)
}

func TestRetryGivesUp(t *testing.T) {
	for name, c := range map[string]struct {
		cfg   llm.RetryConfig
		errs  []error
		calls int
		most  time.Duration
	}{
		"after the attempts":        {llm.RetryConfig{Attempts: 3}, []error{down, down, down, down}, 3, 1500 * time.Millisecond},
		"at once if told to":        {llm.RetryConfig{Attempts: -1}, []error{down, down}, 1, 0},
		"when the wait is too long": {llm.RetryConfig{MaxWait: time.Minute}, []error{&llm.Error{Kind: llm.RateLimited, RetryAfter: time.Hour}}, 1, 0},
		"when the waits are too long": {llm.RetryConfig{MaxWait: 25 * time.Second},
			[]error{&llm.Error{Kind: llm.RateLimited, RetryAfter: 20 * time.Second}, &llm.Error{Kind: llm.RateLimited, RetryAfter: 20 * time.Second}}, 2, 21 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, start := &fake{answer: failing(c.errs...)}, time.Now()
				_, err := llm.Retry(c.cfg)(f).Generate(t.Context(), user("hello"))
				require.Error(t, err)
				require.Equal(t, c.calls, f.calls)
				require.LessOrEqual(t, time.Since(start), c.most)
			})
		})
	}
}

func TestRetryWaitsAsTheServerAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, start := &fake{answer: failing(&llm.Error{Kind: llm.RateLimited, RetryAfter: 17 * time.Second})}, time.Now()
		_, err := llm.Retry(llm.RetryConfig{})(f).Generate(t.Context(), user("hello"))
		require.NoError(t, err)
		require.GreaterOrEqual(t, time.Since(start), 17*time.Second)
		require.Less(t, time.Since(start), 18*time.Second)
	})
}

func TestRetryWaitsARandomTimeWithinADoublingBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var longest [3]time.Duration
		for range 200 {
			var at []time.Time
			f := &fake{answer: func(context.Context, int, *llm.Request) (*llm.Response, error) {
				at = append(at, time.Now())
				return nil, down
			}}
			_, err := llm.Retry(llm.RetryConfig{Attempts: 4, Base: time.Second, Max: 2 * time.Second})(f).Generate(t.Context(), user("hello"))
			require.Error(t, err)
			for i := range longest {
				longest[i] = max(longest[i], at[i+1].Sub(at[i]))
			}
		}
		for i, bound := range []time.Duration{time.Second, 2 * time.Second, 2 * time.Second} {
			require.Less(t, longest[i], bound)
			require.Greater(t, longest[i], bound*8/10)
		}
	})
}

func TestRetryStopsWaitingWhenTheContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("the user left")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(cause) })
		f, start := &fake{answer: failing(&llm.Error{Kind: llm.RateLimited, RetryAfter: 30 * time.Second})}, time.Now()
		_, err := llm.Retry(llm.RetryConfig{})(f).Generate(ctx, user("hello"))
		require.ErrorIs(t, err, cause)
		require.Equal(t, time.Second, time.Since(start))
		require.Equal(t, 1, f.calls)
	})
}

func TestRetryRepeatsAStreamOnlyBeforeItsFirstChunk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{answer: failing(down, limited)}
		texts, res, err := drain(llm.Stream(t.Context(), llm.Retry(llm.RetryConfig{})(f), user("hello")))
		require.NoError(t, err)
		require.Equal(t, "done", res.Text)
		require.Empty(t, texts)
		require.Equal(t, 3, f.calls)

		f = &fake{shown: []string{"Do not "}, answer: failing(down)}
		texts, res, err = drain(llm.Stream(t.Context(), llm.Retry(llm.RetryConfig{})(f), user("hello")))
		require.Equal(t, llm.Unavailable, llm.KindOf(err))
		require.Nil(t, res)
		require.Equal(t, []string{"Do not "}, texts)
		require.Equal(t, 1, f.calls)
	})
}

// hanging obeys its context and nothing else.
var hanging = llm.Func(func(ctx context.Context, _ *llm.Request) (*llm.Response, error) {
	<-ctx.Done()
	return nil, context.Cause(ctx)
})

func TestTimeoutIsUnavailableAndTheCallersDeadlineIsNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		m := llm.Timeout(5 * time.Second)(hanging)
		_, err := m.Generate(t.Context(), user("hello"))
		require.Equal(t, llm.Unavailable, llm.KindOf(err))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, 5*time.Second, time.Since(start))

		_, _, err = drain(llm.Stream(t.Context(), m, user("hello")))
		require.Equal(t, llm.Unavailable, llm.KindOf(err))

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = m.Generate(ctx, user("hello"))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, llm.Unknown, llm.KindOf(err))

		_, err = llm.Timeout(0)(hanging).Generate(t.Context(), user("hello"))
		require.Equal(t, llm.Unavailable, llm.KindOf(err))
	})
}

func TestTimeoutInsideRetryIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		slowOnce := llm.Func(func(ctx context.Context, req *llm.Request) (*llm.Response, error) {
			if n++; n == 1 {
				return hanging(ctx, req)
			}
			return &llm.Response{Text: "done", Finish: llm.FinishStop}, nil
		})
		res, err := llm.Chain(slowOnce, llm.Retry(llm.RetryConfig{}), llm.Timeout(time.Second)).Generate(t.Context(), user("hello"))
		require.NoError(t, err)
		require.Equal(t, "done", res.Text)
	})
}
