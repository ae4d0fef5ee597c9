package llm

import (
	"context"
	"iter"
)

// Middleware puts something around a model. What it returns must state the
// capabilities of what it wraps, and must stream if that streams.
type Middleware func(LLM) LLM

// Chain wraps m. The first middleware is the outermost, so it sees a request
// first and its reply last. A nil middleware is left out.
func Chain(m LLM, around ...Middleware) LLM {
	for i := len(around) - 1; i >= 0; i-- {
		if around[i] != nil {
			m = around[i](m)
		}
	}
	return m
}

// layer is a model around another: both ways of asking are given, and the
// capabilities are those of what it wraps.
type layer struct {
	inner    LLM
	generate func(ctx context.Context, req *Request) (*Response, error)
	stream   func(ctx context.Context, req *Request) iter.Seq2[Chunk, error]
}

var (
	_ LLM      = (*layer)(nil)
	_ Capable  = (*layer)(nil)
	_ Streamer = (*layer)(nil)
)

func (l *layer) Generate(ctx context.Context, req *Request) (*Response, error) {
	return l.generate(ctx, req)
}

func (l *layer) Stream(ctx context.Context, req *Request) iter.Seq2[Chunk, error] {
	return l.stream(ctx, req)
}

func (l *layer) Capabilities() Capabilities { return CapabilitiesOf(l.inner) }

// relay passes on what seq yields. It returns the final response, the error, or
// neither when the reader broke off. A stream that ends with neither is
// [Truncated].
func relay(seq iter.Seq2[Chunk, error], yield func(Chunk, error) bool) (res *Response, broke bool, err error) {
	for c, e := range seq {
		if e != nil {
			return nil, false, e
		}
		if c.Response != nil {
			return c.Response, false, nil
		}
		if !yield(c, nil) {
			return nil, true, nil
		}
	}
	return nil, false, errStreamEnded()
}
