package llmtest_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/llm/llmtest"
)

// broken are models that break one promise each, and a test that has to fail.
var broken = map[string]struct {
	test   string
	around func(llm.LLM) llm.Func
}{
	"half an answer": {"generate/faults/token_limit", func(m llm.LLM) llm.Func {
		return func(ctx context.Context, req *llm.Request) (*llm.Response, error) {
			res, err := m.Generate(ctx, req)
			if llm.KindOf(err) == llm.Truncated {
				return &llm.Response{Text: "Do not ", Finish: llm.FinishStop}, nil
			}
			return res, err
		}
	}},
	"changes the request": {"generate/text", func(m llm.LLM) llm.Func {
		return func(ctx context.Context, req *llm.Request) (*llm.Response, error) {
			defer func() { req.Messages[0].Text += "!" }()
			return m.Generate(ctx, req)
		}
	}},
	"drops tools": {"generate/tools/are_refused", func(m llm.LLM) llm.Func {
		return func(ctx context.Context, req *llm.Request) (*llm.Response, error) {
			req = req.Clone()
			req.Tools = nil
			return m.Generate(ctx, req)
		}
	}},
	"forgets the cause": {"stream/contexts/ended_on_the_way", func(m llm.LLM) llm.Func {
		return func(ctx context.Context, req *llm.Request) (*llm.Response, error) {
			res, err := m.Generate(ctx, req)
			if ctx.Err() != nil {
				return nil, errors.New("request cancelled")
			}
			return res, err
		}
	}},
	"forgets when to come again": {"generate/faults/rate_limit_and_when_to_come_again", func(m llm.LLM) llm.Func {
		return func(ctx context.Context, req *llm.Request) (*llm.Response, error) {
			res, err := m.Generate(ctx, req)
			if kind := llm.KindOf(err); kind == llm.RateLimited {
				return nil, &llm.Error{Kind: kind}
			}
			return res, err
		}
	}},
	"leaves goroutines": {"", func(m llm.LLM) llm.Func {
		return func(ctx context.Context, req *llm.Request) (*llm.Response, error) {
			go func() { select {} }()
			return m.Generate(ctx, req)
		}
	}},
}

// TestSuiteOnABrokenModel is run by the test below, in a process of its own.
func TestSuiteOnABrokenModel(t *testing.T) {
	b, ok := broken[os.Getenv("LLMTEST_BROKEN")]
	if !ok {
		t.Skip("run by TestSuiteFailsModelsThatBreakAPromise")
	}
	llmtest.TestLLM(t, func(t *testing.T, script ...llmtest.Exchange) llm.LLM {
		return b.around(llmtest.ScriptOf(t, script...).Can(llm.Capabilities{}))
	})
}

func TestSuiteFailsModelsThatBreakAPromise(t *testing.T) {
	for name, b := range broken {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSuiteOnABrokenModel$", "-test.v")
			cmd.Env = append(os.Environ(), "LLMTEST_BROKEN="+name)
			out, err := cmd.CombinedOutput()
			require.Error(t, err, "%s", out)
			want := "--- FAIL: TestSuiteOnABrokenModel"
			if b.test != "" {
				want += "/" + b.test
			}
			require.Contains(t, string(out), want)
		})
	}
}
