package llm

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"time"
)

// RetryConfig bounds the retries of a call. Zero fields take the default.
type RetryConfig struct {
	Attempts int           // tries in all, the first included; default 4, at most 20; below zero: 1
	Base     time.Duration // upper bound of the first wait, doubled each time; default 500 ms
	Max      time.Duration // upper bound of any wait of our own choice; default 20 s
	MaxWait  time.Duration // upper bound of all waits of a call together; default 1 min
}

// Retry repeats a call that failed with [RateLimited] or [Unavailable], and no
// other: those are the failures that time may mend. It waits a random time
// between zero and a bound that doubles (full jitter), or what the server asked
// for in RetryAfter plus some jitter. A wait that would exceed MaxWait ends the
// call at once with the error at hand.
//
// A stream is repeated only while nothing of it was yielded.
//
// Source: full jitter as in "Exponential Backoff And Jitter", AWS, 2015.
func Retry(cfg RetryConfig) Middleware {
	cfg = cfg.withDefaults()
	return func(inner LLM) LLM {
		return &layer{
			inner: inner,
			generate: func(ctx context.Context, req *Request) (*Response, error) {
				w := &waiter{cfg: cfg}
				for {
					res, err := inner.Generate(ctx, req)
					if err == nil {
						return res, nil
					}
					if err := w.wait(ctx, err); err != nil {
						return nil, err
					}
				}
			},
			stream: func(ctx context.Context, req *Request) iter.Seq2[Chunk, error] {
				return func(yield func(Chunk, error) bool) { retryStream(ctx, inner, req, &waiter{cfg: cfg}, yield) }
			},
		}
	}
}

func retryStream(ctx context.Context, inner LLM, req *Request, w *waiter, yield func(Chunk, error) bool) {
	for {
		started := false
		res, broke, err := relay(Stream(ctx, inner, req), func(c Chunk, err error) bool {
			started = true
			return yield(c, err)
		})
		switch {
		case broke:
			return
		case err == nil:
			yield(Chunk{Response: res}, nil)
			return
		case started:
			yield(Chunk{}, err)
			return
		}
		if err := w.wait(ctx, err); err != nil {
			yield(Chunk{}, err)
			return
		}
	}
}

// waiter is the retry state of one call.
type waiter struct {
	cfg    RetryConfig
	tries  int
	waited time.Duration
}

// wait returns nil when the call is to be tried again, after the wait, and
// otherwise the error to end with.
func (w *waiter) wait(ctx context.Context, failed error) error {
	w.tries++
	e, ok := errors.AsType[*Error](failed)
	if !ok || (e.Kind != RateLimited && e.Kind != Unavailable) || ctx.Err() != nil || w.tries >= w.cfg.Attempts {
		return failed
	}
	d := w.delay(e.RetryAfter)
	if d > w.cfg.MaxWait-w.waited {
		return failed
	}
	w.waited += d
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("llm: retry: waiting after %w: %w", failed, context.Cause(ctx))
	}
}

func (w *waiter) delay(after time.Duration) time.Duration {
	if after > 0 {
		if after > w.cfg.MaxWait {
			return after
		}
		return after + rand.N(w.cfg.Base)
	}
	bound := w.cfg.Base
	for i := 1; i < w.tries && bound <= w.cfg.Max/2; i++ {
		bound *= 2
	}
	return rand.N(min(bound, w.cfg.Max))
}

func (c RetryConfig) withDefaults() RetryConfig {
	switch {
	case c.Attempts == 0:
		c.Attempts = 4
	case c.Attempts < 0:
		c.Attempts = 1
	}
	c.Attempts = min(c.Attempts, 20)
	positive := func(d *time.Duration, otherwise time.Duration) {
		if *d <= 0 {
			*d = otherwise
		}
	}
	positive(&c.Base, 500*time.Millisecond)
	positive(&c.Max, 20*time.Second)
	positive(&c.MaxWait, time.Minute)
	return c
}
