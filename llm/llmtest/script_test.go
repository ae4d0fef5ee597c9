package llmtest_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/llm/llmtest"
)

func TestScriptKeepsThePromisesOfAModel(t *testing.T) {
	llmtest.TestLLM(t, func(t *testing.T, script ...llmtest.Exchange) llm.LLM {
		return llmtest.ScriptOf(t, script...)
	})
}

func TestScriptWithoutToolsKeepsThePromisesOfAModel(t *testing.T) {
	llmtest.TestLLM(t, func(t *testing.T, script ...llmtest.Exchange) llm.LLM {
		return llmtest.ScriptOf(t, script...).Can(llm.Capabilities{})
	})
}

// watch is a testing.TB that keeps what is reported.
type watch struct {
	testing.TB
	errs     []string
	cleanups []func()
}

func (w *watch) Error(args ...any) { w.errs = append(w.errs, fmt.Sprint(args...)) }
func (w *watch) Errorf(format string, args ...any) {
	w.errs = append(w.errs, fmt.Sprintf(format, args...))
}
func (w *watch) Failed() bool     { return len(w.errs) > 0 }
func (w *watch) Cleanup(f func()) { w.cleanups = append(w.cleanups, f) }
func (w *watch) end() {
	for _, f := range w.cleanups {
		f()
	}
}

func ask(purpose, text string) *llm.Request {
	return &llm.Request{Purpose: purpose, Messages: []llm.Message{{Role: llm.User, Text: text}}}
}

func TestScriptFailsTheTestOnAnUnexpectedPrompt(t *testing.T) {
	for name, c := range map[string]struct {
		turns []llmtest.Turn
		req   *llm.Request
		says  string
	}{
		"none left":     {nil, ask("plan", "hello"), "no turn is left"},
		"another text":  {[]llmtest.Turn{llmtest.Say("x").On("goodbye")}, ask("plan", "hello"), `contains "goodbye"`},
		"not to have":   {[]llmtest.Turn{llmtest.Say("x").Without("hello")}, ask("plan", "hello"), "does not contain"},
		"no match":      {[]llmtest.Turn{llmtest.Say("x").OnRegexp("^user: h.y$")}, ask("plan", "hello"), "matches"},
		"no such thing": {[]llmtest.Turn{llmtest.Say("x").OnFunc("has tools", func(r *llm.Request) bool { return len(r.Tools) > 0 })}, ask("", "hello"), "has tools"},
		"other purpose": {[]llmtest.Turn{llmtest.Say("x").For("agent")}, ask("plan", "hello"), "no turn is left"},
		"out of order":  {[]llmtest.Turn{llmtest.Say("x").On("one"), llmtest.Say("y").On("two")}, ask("", "two"), `contains "one"`},
	} {
		t.Run(name, func(t *testing.T) {
			w := &watch{TB: t}
			_, err := llmtest.NewScript(w, c.turns...).Generate(t.Context(), c.req)
			require.Equal(t, llm.BadRequest, llm.KindOf(err))
			require.ErrorContains(t, err, c.says)
			require.Len(t, w.errs, 1)
			require.Contains(t, w.errs[0], c.says)
			require.Contains(t, w.errs[0], c.req.Messages[0].Text, "the prompt is shown")
		})
	}
}

func TestScriptFailsTheTestOnTurnsThatAreLeft(t *testing.T) {
	w := &watch{TB: t}
	s := llmtest.NewScript(w, llmtest.Say("a").For("plan"), llmtest.Say("b").For("agent"), llmtest.Say("c").Always())
	_, err := s.Generate(t.Context(), ask("plan", "hello"))
	require.NoError(t, err)
	w.end()
	require.Len(t, w.errs, 1)
	require.Contains(t, w.errs[0], `1 turns were not asked for, of purposes "agent"`)
}

func TestScriptKeepsAQueueForEachPurpose(t *testing.T) {
	s := llmtest.NewScript(t,
		llmtest.Say("plan 1").For("plan"), llmtest.Say("any 1"), llmtest.Say("agent 1").For("agent"),
		llmtest.Say("plan 2").For("plan"), llmtest.Say("any 2").Always())
	for _, c := range []struct{ purpose, want string }{
		{"agent", "agent 1"}, {"plan", "plan 1"}, {"match", "any 1"}, {"plan", "plan 2"}, {"", "any 2"}, {"summary", "any 2"},
	} {
		res, err := s.Generate(t.Context(), ask(c.purpose, "hello"))
		require.NoError(t, err)
		require.Equal(t, c.want, res.Text)
	}
	require.Len(t, s.Requests(), 6)
	require.NoError(t, s.Err())
}

func TestUnorderedScriptIsDeterministicUnderConcurrency(t *testing.T) {
	s := llmtest.NewScript(t).Unordered()
	for i := range 20 {
		s.Add(llmtest.Say(fmt.Sprintf("answer %d.", i)).For("agent").On(fmt.Sprintf("question %d.", i)))
	}
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			res, err := s.Generate(t.Context(), ask("agent", fmt.Sprintf("question %d.", i)))
			if err != nil || res.Text != fmt.Sprintf("answer %d.", i) {
				t.Errorf("question %d: %+v, %v", i, res, err)
			}
		})
	}
	all.Wait()
}

func TestScriptSharesNothing(t *testing.T) {
	s := llmtest.NewScript(t, llmtest.Use("f", `{}`).And("g", `{"x":1}`).Using(3, 4).Always())
	req := ask("", "hello")
	one, err := s.Generate(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, llm.FinishTools, one.Finish)
	require.Equal(t, llm.Usage{InputTokens: 3, OutputTokens: 4}, one.Usage)
	one.Calls[1].Arguments[0] = 'x'
	req.Messages[0].Text = "changed"
	two, err := s.Generate(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, `{"x":1}`, string(two.Calls[1].Arguments))
	require.Equal(t, "call_2", two.Calls[1].ID)
	require.Equal(t, "hello", s.Requests()[0].Messages[0].Text)
}

func TestScriptFailsAndHangsWhereItIsTold(t *testing.T) {
	boom := errors.New("boom")
	s := llmtest.NewScript(t, llmtest.Fail(boom), llmtest.Hang(), llmtest.JSON(map[string]int{"a": 1}))
	_, err := s.Generate(t.Context(), ask("", "hello"))
	require.ErrorIs(t, err, boom)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, err = s.Generate(ctx, ask("", "hello"))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	res, err := s.Generate(t.Context(), ask("", "hello"))
	require.NoError(t, err)
	require.Equal(t, `{"a":1}`, res.Text)
	require.Panics(t, func() { llmtest.JSON(`{"a":`) })
}

func TestLatencyIsExactInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := llmtest.Latency(llmtest.NewScript(t, llmtest.Say("x").Always()), 3*time.Second)
		require.Equal(t, llm.Capabilities{Tools: true, Schema: true}, llm.CapabilitiesOf(m))
		start := time.Now()
		_, err := m.Generate(t.Context(), ask("", "hello"))
		require.NoError(t, err)
		require.Equal(t, 3*time.Second, time.Since(start))

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = m.Generate(ctx, ask("", "hello"))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, 4*time.Second, time.Since(start))
	})
}

func TestConst(t *testing.T) {
	res, err := llmtest.Const("yes").Generate(t.Context(), ask("", "hello"))
	require.NoError(t, err)
	require.Equal(t, "yes", res.Text)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = llmtest.Const("yes").Generate(ctx, ask("", "hello"))
	require.ErrorIs(t, err, context.Canceled)
}

// A model that breaks a promise has to fail the suite; each of these breaks one.
// The suite cannot be run on a watch, since it needs subtests, so what is tested
// here are the server's own checks.
func TestServerFailsTheTestOnUnexpectedRequests(t *testing.T) {
	w := &watch{TB: t}
	s := llmtest.NewServer(w, llmtest.Exchange{Text: "x", Has: []string{"goodbye"}}, llmtest.Exchange{Text: "y"})
	post(t, s.URL+"/chat/completions", `{"messages":[{"role":"user","content":"hello"}]}`)
	require.Len(t, w.errs, 1)
	require.Contains(t, w.errs[0], "goodbye")
	post(t, s.URL+"/completions", `{}`)
	require.Len(t, w.errs, 2)
	require.Len(t, s.Bodies(), 1)
	w.errs = nil
	w.end()
	require.Len(t, w.errs, 1)
	require.Contains(t, w.errs[0], "1 exchanges were not asked for")
}

func post(t *testing.T, url, body string) {
	res, err := http.Post(url, "application/json", strings.NewReader(body))
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
}
