package llm

import (
	"context"
	"fmt"
	"iter"
	"time"
)

// Timeout bounds each call to d, a whole stream included. A call that takes
// longer fails with [Unavailable], for which errors.Is(err,
// context.DeadlineExceeded) holds; so a [Retry] around it tries again. The
// caller's own deadline is reported as such and not as Unavailable.
//
// With d of zero or less every call fails.
func Timeout(d time.Duration) Middleware {
	return func(inner LLM) LLM {
		limit := func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeoutCause(ctx, d, fmt.Errorf("no reply within %s: %w", d, context.DeadlineExceeded))
		}
		return &layer{
			inner: inner,
			generate: func(ctx context.Context, req *Request) (*Response, error) {
				limited, cancel := limit(ctx)
				defer cancel()
				res, err := inner.Generate(limited, req)
				return res, timedOut(ctx, limited, err)
			},
			stream: func(ctx context.Context, req *Request) iter.Seq2[Chunk, error] {
				return func(yield func(Chunk, error) bool) {
					limited, cancel := limit(ctx)
					defer cancel()
					for c, err := range Stream(limited, inner, req) {
						if !yield(c, timedOut(ctx, limited, err)) || err != nil {
							return
						}
					}
				}
			},
		}
	}
}

// timedOut says whether err is our limit's doing, and if so says it well.
func timedOut(ctx, limited context.Context, err error) error {
	if err == nil || ctx.Err() != nil || limited.Err() == nil {
		return err
	}
	return &Error{Kind: Unavailable, Err: context.Cause(limited)}
}
