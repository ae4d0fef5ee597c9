package llmtest

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/isolategpt/isolategpt/llm"
)

// Script is a model that replays turns. A request with a purpose that has turns
// of its own takes the next of those, any other the next of the turns without a
// purpose. A request that the next turn was not written for, or that has none
// left, fails the test, and so do turns that nobody asked for by its end.
//
// Script is safe for concurrent use. It states both capabilities unless
// [Script.Can] says otherwise.
type Script struct {
	t testing.TB

	mu        sync.Mutex
	caps      llm.Capabilities
	unordered bool
	queues    map[string][]*Turn
	requests  []*llm.Request
	err       error // the first failure
}

var (
	_ llm.LLM      = (*Script)(nil)
	_ llm.Capable  = (*Script)(nil)
	_ llm.Streamer = (*Script)(nil)
)

// NewScript makes a script that reports to t. In an Example, which has none, t
// is nil; then [Script.Err] says what went wrong.
func NewScript(t testing.TB, turns ...Turn) *Script {
	s := &Script{t: t, caps: llm.Capabilities{Tools: true, Schema: true}, queues: map[string][]*Turn{}}
	s.Add(turns...)
	if t != nil {
		t.Cleanup(func() {
			if err := s.Err(); err != nil && !t.Failed() {
				t.Error(err)
			}
		})
	}
	return s
}

// Add puts turns at the end.
func (s *Script) Add(turns ...Turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, turn := range turns {
		s.queues[turn.purpose] = append(s.queues[turn.purpose], &turn)
	}
}

// Unordered makes a request take the first turn of its queue that it meets the
// demands of, for calls of one purpose that come side by side. It returns s.
func (s *Script) Unordered() *Script {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unordered = true
	return s
}

// Can sets the capabilities that the script states. It returns s.
func (s *Script) Can(caps llm.Capabilities) *Script {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.caps = caps
	return s
}

// Capabilities are those set by Can.
func (s *Script) Capabilities() llm.Capabilities {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.caps
}

// Requests are copies of the requests so far, the unexpected ones included.
func (s *Script) Requests() []*llm.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	copies := make([]*llm.Request, len(s.requests))
	for i, r := range s.requests {
		copies[i] = r.Clone()
	}
	return copies
}

// Err says what went wrong first: an unexpected request, or else turns that are
// left over.
func (s *Script) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	var left []string
	for purpose, q := range s.queues {
		for _, t := range q {
			if !t.always {
				left = append(left, fmt.Sprintf("%q", purpose))
			}
		}
	}
	if left == nil {
		return nil
	}
	slices.Sort(left)
	return fmt.Errorf("llmtest: script: %d turns were not asked for, of purposes %s", len(left), strings.Join(slices.Compact(left), ", "))
}

// Generate answers with the turn for req.
func (s *Script) Generate(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("llmtest: script: %w", context.Cause(ctx))
	}
	turn, err := s.take(req)
	if err != nil {
		return nil, err
	}
	switch {
	case turn.hang:
		<-ctx.Done()
		return nil, fmt.Errorf("llmtest: script: %w", context.Cause(ctx))
	case turn.err != nil:
		return nil, turn.err
	case turn.answer != nil:
		return turn.answer(req.Clone())
	}
	return turn.reply.Clone(), nil
}

// Stream answers as Generate does, word by word.
func (s *Script) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		res, err := s.Generate(ctx, req)
		if err != nil {
			yield(llm.Chunk{}, err)
			return
		}
		for word := range strings.SplitAfterSeq(res.Text, " ") {
			if word != "" && !yield(llm.Chunk{Text: word}, nil) {
				return
			}
			if ctx.Err() != nil {
				yield(llm.Chunk{}, fmt.Errorf("llmtest: script: %w", context.Cause(ctx)))
				return
			}
		}
		yield(llm.Chunk{Response: res}, nil)
	}
}

func (s *Script) take(req *llm.Request) (*Turn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, req.Clone())
	if len(req.Tools) > 0 && !s.caps.Tools {
		return nil, &llm.Error{Kind: llm.BadRequest, Err: fmt.Errorf("llmtest: script: the request offers tools and the script can use none")}
	}
	key := req.Purpose
	if _, ok := s.queues[key]; !ok {
		key = ""
	}
	queue := s.queues[key]
	var unmet string
	for i, turn := range queue {
		if unmet = turn.unmet(req); unmet == "" {
			if !turn.always {
				s.queues[key] = slices.Delete(slices.Clone(queue), i, i+1)
			}
			return turn, nil
		}
		if !s.unordered {
			break
		}
	}
	return nil, s.unexpected(req, unmet, len(queue))
}

// unexpected fails the test. It is not FailNow: the caller may be any goroutine.
func (s *Script) unexpected(req *llm.Request, unmet string, left int) error {
	why := "no turn is left"
	if left > 0 {
		why = "it does not meet: " + unmet
	}
	err := fmt.Errorf("llmtest: script: unexpected request %d with purpose %q: %s\n%s", len(s.requests), req.Purpose, why, Prompt(req))
	if s.err == nil {
		s.err = err
	}
	if s.t != nil {
		s.t.Error(err)
	}
	return &llm.Error{Kind: llm.BadRequest, Err: err}
}
