package llm

import (
	"context"
	"iter"
)

// Streamer is an optional interface of an [LLM] that can show its reply while
// it comes.
type Streamer interface {
	// Stream yields text as it arrives and ends with exactly one chunk whose
	// Response is set, or with one error. A stream that ends early is an
	// [*Error] of kind [Truncated]; what was yielded before it is not an answer.
	// Breaking off the loop cancels the request.
	Stream(ctx context.Context, req *Request) iter.Seq2[Chunk, error]
}

// Chunk is a piece of a streamed reply.
type Chunk struct {
	Text     string
	Response *Response // on the last chunk only: the whole reply
}

// Stream streams from m if it can, and otherwise yields the whole reply once.
func Stream(ctx context.Context, m LLM, req *Request) iter.Seq2[Chunk, error] {
	if s, ok := m.(Streamer); ok {
		return s.Stream(ctx, req)
	}
	return func(yield func(Chunk, error) bool) {
		res, err := m.Generate(ctx, req)
		if err == nil && res == nil {
			err = malformed("no reply and no error")
		}
		if err != nil {
			yield(Chunk{}, err)
			return
		}
		if res.Text != "" && !yield(Chunk{Text: res.Text}, nil) {
			return
		}
		yield(Chunk{Response: res}, nil)
	}
}
