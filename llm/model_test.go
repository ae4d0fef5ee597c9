package llm_test

import (
	"context"
	"errors"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/llm"
)

// fake is a model that streams and states capabilities.
type fake struct {
	caps   llm.Capabilities
	calls  int
	answer func(ctx context.Context, n int, req *llm.Request) (*llm.Response, error)
	shown  []string // chunks before the answer
}

func (f *fake) Capabilities() llm.Capabilities { return f.caps }

func (f *fake) Generate(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	f.calls++
	return f.answer(ctx, f.calls, req)
}

func (f *fake) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		for _, s := range f.shown {
			if !yield(llm.Chunk{Text: s}, nil) {
				return
			}
		}
		res, err := f.Generate(ctx, req)
		yield(llm.Chunk{Response: res}, err)
	}
}

func saying(text string) func(context.Context, int, *llm.Request) (*llm.Response, error) {
	return func(context.Context, int, *llm.Request) (*llm.Response, error) {
		return &llm.Response{Text: text, Finish: llm.FinishStop}, nil
	}
}

// failing fails with each error in turn, and then says "done".
func failing(errs ...error) func(context.Context, int, *llm.Request) (*llm.Response, error) {
	return func(_ context.Context, n int, _ *llm.Request) (*llm.Response, error) {
		if n <= len(errs) {
			return nil, errs[n-1]
		}
		return &llm.Response{Text: "done", Finish: llm.FinishStop}, nil
	}
}

func user(text string) *llm.Request {
	return &llm.Request{Messages: []llm.Message{{Role: llm.User, Text: text}}}
}

func drain(seq iter.Seq2[llm.Chunk, error]) (texts []string, res *llm.Response, err error) {
	for c, e := range seq {
		if c.Text != "" {
			texts = append(texts, c.Text)
		}
		res, err = c.Response, e
	}
	return texts, res, err
}

func TestMiddlewareKeepsCapabilitiesAndStreams(t *testing.T) {
	budget := llm.NewBudget(llm.BudgetConfig{MaxCalls: llm.NoLimit, MaxTokens: llm.NoLimit})
	for name, around := range map[string]llm.Middleware{
		"none": nil, "safe": llm.Safe, "retry": llm.Retry(llm.RetryConfig{}), "timeout": llm.Timeout(1 << 40),
		"budget": budget.Wrap, "record": new(llm.Recorder).Wrap,
	} {
		t.Run(name, func(t *testing.T) {
			f := &fake{caps: llm.Capabilities{Tools: true, Schema: true}, shown: []string{"a", "b"}, answer: saying("ab")}
			m := llm.Chain(f, around)
			require.Equal(t, f.caps, llm.CapabilitiesOf(m))

			texts, res, err := drain(llm.Stream(t.Context(), m, user("hello")))
			require.NoError(t, err)
			require.Equal(t, []string{"a", "b"}, texts)
			require.Equal(t, "ab", res.Text)

			for _, err := range llm.Stream(t.Context(), m, user("hello")) {
				require.NoError(t, err)
				break // ends the call, and must not panic
			}
			res, err = m.Generate(t.Context(), user("hello"))
			require.NoError(t, err)
			require.Equal(t, "ab", res.Text)

			plain := llm.Chain(llm.Func(func(context.Context, *llm.Request) (*llm.Response, error) {
				return &llm.Response{Text: "whole", Finish: llm.FinishStop}, nil
			}), around)
			require.Equal(t, llm.Capabilities{}, llm.CapabilitiesOf(plain))
			texts, res, err = drain(llm.Stream(t.Context(), plain, user("hello")))
			require.NoError(t, err)
			require.Equal(t, []string{"whole"}, texts)
			require.Equal(t, "whole", res.Text)
		})
	}
}

func TestChainPutsTheFirstOutermost(t *testing.T) {
	var order []string
	mark := func(name string) llm.Middleware {
		return func(m llm.LLM) llm.LLM {
			return llm.Func(func(ctx context.Context, req *llm.Request) (*llm.Response, error) {
				order = append(order, name)
				return m.Generate(ctx, req)
			})
		}
	}
	_, err := llm.Chain(&fake{answer: saying("x")}, mark("outer"), nil, mark("inner")).Generate(t.Context(), user("hello"))
	require.NoError(t, err)
	require.Equal(t, []string{"outer", "inner"}, order)
}

func TestKindOf(t *testing.T) {
	require.Equal(t, llm.Unknown, llm.KindOf(nil))
	require.Equal(t, llm.Unknown, llm.KindOf(errors.New("x")))
	require.Equal(t, llm.Auth, llm.KindOf(errors.Join(errors.New("x"), &llm.Error{Kind: llm.Auth})))
}

func TestSafeContainsAModelThatMisbehaves(t *testing.T) {
	reply := func(res *llm.Response) func(context.Context, int, *llm.Request) (*llm.Response, error) {
		return func(context.Context, int, *llm.Request) (*llm.Response, error) { return res, nil }
	}
	for name, c := range map[string]struct {
		model llm.LLM
		kind  llm.Kind
	}{
		"no model":         {nil, llm.Unknown},
		"panic":            {&fake{answer: func(context.Context, int, *llm.Request) (*llm.Response, error) { panic("boom") }}, llm.Unknown},
		"nothing":          {&fake{answer: reply(nil)}, llm.Malformed},
		"no finish":        {&fake{answer: reply(&llm.Response{Text: "x"})}, llm.Malformed},
		"calls and stop":   {&fake{answer: reply(&llm.Response{Finish: llm.FinishStop, Calls: []llm.ToolCall{{Name: "x", Arguments: []byte(`{}`)}}})}, llm.Malformed},
		"tools, no calls":  {&fake{answer: reply(&llm.Response{Finish: llm.FinishTools})}, llm.Malformed},
		"broken arguments": {&fake{answer: reply(&llm.Response{Finish: llm.FinishTools, Calls: []llm.ToolCall{{Name: "x", Arguments: []byte(`{`)}}})}, llm.Malformed},
	} {
		t.Run(name, func(t *testing.T) {
			m := llm.Safe(c.model)
			res, err := m.Generate(t.Context(), user("hello"))
			require.Nil(t, res)
			require.Equal(t, c.kind, llm.KindOf(err))
			require.ErrorAs(t, err, new(*llm.Error))

			_, res, err = drain(llm.Stream(t.Context(), m, user("hello")))
			require.Nil(t, res)
			require.ErrorAs(t, err, new(*llm.Error))
		})
	}
}

func TestSafeLetsTheReadersOwnPanicPass(t *testing.T) {
	m := llm.Safe(&fake{shown: []string{"a"}, answer: saying("a")})
	require.PanicsWithValue(t, "mine", func() {
		for _, err := range llm.Stream(t.Context(), m, user("hello")) {
			require.NoError(t, err)
			panic("mine")
		}
	})
}

// silent ends its streams without a word.
type silent struct{ llm.LLM }

func (silent) Stream(context.Context, *llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) { yield(llm.Chunk{Text: "Do not "}, nil) }
}

func TestStreamThatJustStopsIsTruncated(t *testing.T) {
	for _, around := range []llm.Middleware{llm.Safe, llm.Retry(llm.RetryConfig{}), new(llm.Recorder).Wrap} {
		_, res, err := drain(llm.Stream(t.Context(), around(silent{}), user("May I?")))
		require.Nil(t, res)
		require.Equal(t, llm.Truncated, llm.KindOf(err))
	}
}

func TestCloneSharesNothing(t *testing.T) {
	req := &llm.Request{
		Messages:    []llm.Message{{Role: llm.Assistant, Calls: []llm.ToolCall{{Arguments: []byte(`{}`)}}}},
		Tools:       []llm.Tool{{Name: "a", Parameters: []byte(`{}`)}},
		Schema:      []byte(`{}`),
		Temperature: new(0.5),
	}
	c := req.Clone()
	require.Equal(t, req, c)
	c.Messages[0].Calls[0].Arguments[0], c.Tools[0].Parameters[0], c.Schema[0], *c.Temperature = 'x', 'x', 'x', 1
	c.Tools[0].Name = "b"
	require.Equal(t, `{}`, string(req.Messages[0].Calls[0].Arguments))
	require.Equal(t, llm.Tool{Name: "a", Parameters: []byte(`{}`)}, req.Tools[0])
	require.Equal(t, `{}`, string(req.Schema))
	require.Equal(t, 0.5, *req.Temperature)
	require.Nil(t, (*llm.Request)(nil).Clone())
	require.Nil(t, (*llm.Response)(nil).Clone())
}
