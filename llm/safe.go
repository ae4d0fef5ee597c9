package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
)

// Safe contains a model that misbehaves: a panic, no reply and no error, a
// reply that does not say how it ended, tool arguments that are not JSON, and a
// stream that just stops all become an [*Error]. It is a [Middleware], and m
// may be nil: then every call fails. A panic of the code that reads a stream is
// that code's own and passes through.
func Safe(m LLM) LLM {
	return &layer{
		inner:    capableSafe{m},
		generate: func(ctx context.Context, req *Request) (*Response, error) { return safeGenerate(ctx, m, req) },
		stream: func(ctx context.Context, req *Request) iter.Seq2[Chunk, error] {
			return func(yield func(Chunk, error) bool) { safeStream(ctx, m, req, yield) }
		},
	}
}

// capableSafe keeps a panic in Capabilities from passing: it states none.
type capableSafe struct{ LLM }

func (c capableSafe) Capabilities() (caps Capabilities) {
	defer func() {
		if recover() != nil {
			caps = Capabilities{}
		}
	}()
	return CapabilitiesOf(c.LLM)
}

func safeGenerate(ctx context.Context, m LLM, req *Request) (res *Response, err error) {
	defer func() {
		if p := recover(); p != nil {
			res, err = nil, panicked(p)
		}
	}()
	res, err = m.Generate(ctx, req)
	if err != nil {
		return nil, err
	}
	if err := checkResponse(res); err != nil {
		return nil, err
	}
	return res, nil
}

func safeStream(ctx context.Context, m LLM, req *Request, yield func(Chunk, error) bool) {
	inReader, broke := false, false
	// Only what the model does is contained; in the reader's code a panic goes on.
	read := func(c Chunk, err error) bool {
		inReader = true
		more := yield(c, err)
		inReader = false
		broke = !more
		return more
	}
	var res *Response
	err := func() (err error) {
		defer func() {
			if inReader {
				return
			}
			if p := recover(); p != nil {
				err = panicked(p)
			}
		}()
		res, broke, err = relay(Stream(ctx, m, req), read)
		if err == nil && !broke {
			err = checkResponse(res)
		}
		return err
	}()
	switch {
	case broke:
	case err != nil:
		yield(Chunk{}, err)
	default:
		yield(Chunk{Response: res}, nil)
	}
}

func checkResponse(res *Response) error {
	if res == nil {
		return malformed("no reply and no error")
	}
	if res.Finish != FinishStop && res.Finish != FinishTools {
		return malformed("the reply does not say how it ended: Response.Finish is %s", res.Finish)
	}
	if (res.Finish == FinishTools) != (len(res.Calls) > 0) {
		return malformed("the reply ended with %s and has %d tool calls", res.Finish, len(res.Calls))
	}
	for i, c := range res.Calls {
		if !json.Valid(c.Arguments) {
			return malformed("the arguments of tool call %d are not one JSON value", i)
		}
	}
	return nil
}

func malformed(format string, args ...any) error {
	return &Error{Kind: Malformed, Err: fmt.Errorf(format, args...)}
}

func panicked(p any) error {
	return &Error{Kind: Unknown, Err: fmt.Errorf("the model panicked: %v", p)}
}

func errStreamEnded() error {
	return &Error{Kind: Truncated, Err: errors.New("the stream ended without a reply")}
}
