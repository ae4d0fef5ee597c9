package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"sync"
	"time"
)

// Call is one recorded call: what was asked, and the reply or the error.
type Call struct {
	Request  *Request
	Response *Response
	Err      error
	Start    time.Time
	Duration time.Duration
}

// MarshalJSON writes the error as its text.
func (c Call) MarshalJSON() ([]byte, error) {
	var text string
	if c.Err != nil {
		text = c.Err.Error()
	}
	return json.Marshal(struct {
		Start    time.Time     `json:"start"`
		Duration time.Duration `json:"duration_ns"`
		Request  *Request      `json:"request"`
		Response *Response     `json:"response,omitempty"`
		Error    string        `json:"error,omitempty"`
	}{c.Start, c.Duration, c.Request, c.Response, text})
}

// Recorder keeps every call of the models that it wraps, prompts and replies
// in full, in the order in which the calls ended. The zero value records in
// memory. It is safe for concurrent use.
type Recorder struct {
	w io.Writer

	mu    sync.Mutex
	calls []Call
}

// Record makes a recorder that also writes each call to w, as one line of
// JSON. A call that could not be written fails: its reply is withheld, since
// what is to be audited must not happen unseen.
func Record(w io.Writer) *Recorder { return &Recorder{w: w} }

// Calls are copies of the calls so far.
func (r *Recorder) Calls() []Call {
	r.mu.Lock()
	defer r.mu.Unlock()
	calls := make([]Call, len(r.calls))
	for i, c := range r.calls {
		c.Request, c.Response = c.Request.Clone(), c.Response.Clone()
		calls[i] = c
	}
	return calls
}

// Wrap is a [Middleware]. A stream that its reader broke off is recorded with
// neither a response nor an error.
func (r *Recorder) Wrap(inner LLM) LLM {
	return &layer{
		inner: inner,
		generate: func(ctx context.Context, req *Request) (*Response, error) {
			c := Call{Request: req.Clone(), Start: time.Now()}
			c.Response, c.Err = inner.Generate(ctx, req)
			if err := r.keep(c); err != nil {
				return nil, err
			}
			return c.Response, nil
		},
		stream: func(ctx context.Context, req *Request) iter.Seq2[Chunk, error] {
			return func(yield func(Chunk, error) bool) {
				c := Call{Request: req.Clone(), Start: time.Now()}
				var broke bool
				c.Response, broke, c.Err = relay(Stream(ctx, inner, req), yield)
				err := r.keep(c)
				switch {
				case broke:
				case err != nil:
					yield(Chunk{}, err)
				default:
					yield(Chunk{Response: c.Response}, nil)
				}
			}
		},
	}
}

// keep stores the call and returns the error that its caller is to get.
func (r *Recorder) keep(c Call) error {
	c.Duration = time.Since(c.Start)
	c.Response = c.Response.Clone() // the caller may change its own
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, c)
	if r.w == nil {
		return c.Err
	}
	line, err := json.Marshal(c)
	if err == nil {
		_, err = r.w.Write(append(line, '\n'))
	}
	if err != nil {
		return fmt.Errorf("llm: record: %w", err)
	}
	return c.Err
}
