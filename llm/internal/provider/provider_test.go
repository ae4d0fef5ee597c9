package provider_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/llm/internal/provider"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func TestFailureReadsTheBodiesOfManyServers(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		body   string
		kind   llm.Kind
		text   string
	}{
		{"OpenAI, key", 401, `{"error":{"message":"Incorrect API key","type":"invalid_request_error","code":"invalid_api_key"}}`, llm.Auth, "Incorrect API key"},
		{"OpenAI, rate", 429, `{"error":{"message":"Rate limit reached","type":"tokens","code":"rate_limit_exceeded"}}`, llm.RateLimited, "Rate limit"},
		{"OpenAI, long", 400, `{"error":{"message":"too long","type":"invalid_request_error","code":"context_length_exceeded"}}`, llm.TooLong, ""},
		{"OpenAI, model", 404, `{"error":{"message":"no such model","code":"model_not_found"}}`, llm.BadRequest, ""},
		{"Azure, filter", 400, `{"error":{"message":"policy","code":"content_filter","innererror":{"code":"ResponsibleAIPolicyViolation"}}}`, llm.Filtered, ""},
		{"vLLM, long", 400, `{"object":"error","message":"This model's maximum context length is 4096 tokens.","type":"BadRequestError","code":400}`, llm.TooLong, "4096"},
		{"vLLM, new", 400, `{"error":{"message":"bad schema","type":"BadRequestError","code":400}}`, llm.BadRequest, "bad schema"},
		{"llama.cpp, long", 400, `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_ctx":4096}}`, llm.TooLong, ""},
		{"llama.cpp, loading", 503, `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`, llm.Unavailable, "Loading"},
		{"llama.cpp, grammar", 400, `{"error":{"code":400,"message":"failed to parse grammar","type":"invalid_request_error"}}`, llm.BadRequest, "grammar"},
		{"Ollama", 404, `{"error":"model 'x' not found"}`, llm.BadRequest, "not found"},
		{"FastAPI", 422, `{"detail":[{"loc":["body"],"msg":"field required","type":"missing"}]}`, llm.BadRequest, "field required"},
		{"FastAPI, text", 403, `{"detail":"Forbidden"}`, llm.Auth, "Forbidden"},
		{"Google", 429, `[{"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED"}}]`, llm.RateLimited, "quota"},
		{"proxy", 502, `<html><h1>Bad Gateway</h1></html>`, llm.Unavailable, "Bad Gateway"},
		{"nothing", 500, ``, llm.Unavailable, "status 500"},
		{"Anthropic, busy", 529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, llm.Unavailable, "Overloaded"},
		{"large body", 413, ``, llm.TooLong, ""},
		{"words decide nothing", 400, `{"error":{"message":"the text says: rate limit 429, invalid api key"}}`, llm.BadRequest, ""},
		{"words about length with another status", 404, `{"error":{"message":"see context window"}}`, llm.BadRequest, ""},
		{"redirect", 307, ``, llm.BadRequest, ""},
		{"strange success", 204, ``, llm.Malformed, ""},
		{"within a reply, by code", 0, `{"error":{"message":"x","code":429}}`, llm.RateLimited, ""},
		{"within a reply, by type", 0, `{"error":{"message":"x","type":"overloaded_error"}}`, llm.Unavailable, ""},
		{"within a reply, nothing known", 0, `{"error":{"message":"odd"}}`, llm.Unknown, "odd"},
		{"within a reply, nothing at all", 0, `{"error":{}}`, llm.Unknown, "does not say which"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := provider.Failure(c.status, http.Header{"Retry-After": {"3"}}, []byte(c.body), now)
			require.Equal(t, c.kind, e.Kind, "%v", e)
			require.Equal(t, c.status, e.Status)
			require.Contains(t, e.Error(), c.text)
			want := time.Duration(0)
			if e.Kind == llm.RateLimited || e.Kind == llm.Unavailable {
				want = 3 * time.Second
			}
			require.Equal(t, want, e.RetryAfter)
		})
	}
}

func TestRetryAfter(t *testing.T) {
	for value, want := range map[string]time.Duration{
		"":      0,
		"17":    17 * time.Second,
		" 1.5 ": 1500 * time.Millisecond,
		now.Add(time.Minute).Format(http.TimeFormat):  time.Minute,
		now.Add(-time.Minute).Format(http.TimeFormat): 0,
		"-5":    0,
		"NaN":   0,
		"Inf":   24 * time.Hour,
		"1e300": 24 * time.Hour,
		"soon":  0,
	} {
		require.Equal(t, want, provider.RetryAfter(http.Header{"Retry-After": {value}}, now), value)
	}
	require.Equal(t, 250*time.Millisecond, provider.RetryAfter(http.Header{"Retry-After-Ms": {"250"}, "Retry-After": {"9"}}, now))
	require.Zero(t, provider.RetryAfter(nil, now))
}

func TestErrorTextsAreOneBoundedLine(t *testing.T) {
	e := provider.Failure(400, nil, []byte(`{"error":"a\nb\u001b[31m`+strings.Repeat("x", 10_000)+`"}`), now)
	require.Less(t, len(e.Error()), 400)
	require.NotContains(t, e.Error(), "\n")
	require.NotContains(t, e.Error(), "\x1b")
}

func TestEndedTellsTheCauseAndTheKindOfEnd(t *testing.T) {
	require.NoError(t, provider.Ended(t.Context(), "x"))
	cause := errors.New("the user left")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	err := provider.Ended(ctx, "x")
	require.ErrorIs(t, err, cause)
	require.ErrorIs(t, err, context.Canceled)
}

func TestToolNamesAreFitAndFoundAgain(t *testing.T) {
	fit := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.OneOf(
			rapid.SampledFrom([]string{"a.b", "a_b", "a-b", "a b", "reply", "ü", "é", "reply_2"}),
			rapid.StringN(1, 100, -1),
		), 1, 8, rapid.ID).Draw(t, "names")
		req := &llm.Request{Messages: []llm.Message{{Role: llm.User}}}
		for _, n := range names {
			req.Tools = append(req.Tools, llm.Tool{Name: n})
		}
		set, err := provider.NewToolset(req, new(provider.Projector))
		require.NoError(t, err)
		seen := map[string]bool{provider.ForcedTool: true}
		for _, n := range names {
			sent := set.Sent(n)
			require.Regexp(t, fit, sent)
			require.False(t, seen[sent], "%q is used twice", sent)
			seen[sent] = true
			call, err := set.Call("id", sent, `{}`)
			require.NoError(t, err)
			require.Equal(t, n, call.Name)
		}
	})
}

func TestToolArgumentsAreRestored(t *testing.T) {
	req := &llm.Request{Tools: []llm.Tool{{Name: "a.b", Parameters: json.RawMessage(`{"type":"object","properties":{"x":{"type":"string","pattern":"y"}}}`)}}}
	set, err := provider.NewToolset(req, new(provider.Projector))
	require.NoError(t, err)
	require.NotContains(t, string(set.Tools[0].Parameters), "pattern")
	call, err := set.Call("id", "a_b", ` {"x":null} `)
	require.NoError(t, err)
	require.Equal(t, `{}`, string(call.Arguments))
	call, err = set.Call("id", "never_offered", `{"x":null}`)
	require.NoError(t, err)
	require.Equal(t, "never_offered", call.Name, "the agent answers it")
	for _, bad := range []string{"", "{", "{}{}", "x"} {
		_, err := set.Call("id", "a_b", bad)
		require.Equal(t, llm.Malformed, llm.KindOf(err))
	}
}

func TestRequestsThatCannotBeSentAreRefused(t *testing.T) {
	user := llm.Message{Role: llm.User, Text: "x"}
	for name, req := range map[string]*llm.Request{
		"nil":            nil,
		"no messages":    {},
		"no role":        {Messages: []llm.Message{{Text: "x"}}},
		"unknown role":   {Messages: []llm.Message{{Role: 9}}},
		"user calls":     {Messages: []llm.Message{{Role: llm.User, Calls: []llm.ToolCall{{}}}}},
		"lost result":    {Messages: []llm.Message{{Role: llm.ToolResult}}},
		"broken history": {Messages: []llm.Message{{Role: llm.Assistant, Calls: []llm.ToolCall{{Name: "x", Arguments: []byte(`{`)}}}}},
		"nameless tool":  {Messages: []llm.Message{user}, Tools: []llm.Tool{{}}},
		"twin tools":     {Messages: []llm.Message{user}, Tools: []llm.Tool{{Name: "a"}, {Name: "a"}}},
		"parameters":     {Messages: []llm.Message{user}, Tools: []llm.Tool{{Name: "a", Parameters: []byte(`{`)}}},
		"limit":          {Messages: []llm.Message{user}, MaxTokens: -1},
	} {
		require.Equal(t, llm.BadRequest, llm.KindOf(provider.CheckRequest(req, true)), name)
	}
	require.Equal(t, llm.BadRequest, llm.KindOf(provider.CheckRequest(&llm.Request{Messages: []llm.Message{user}, Tools: []llm.Tool{{Name: "a"}}}, false)))
	require.NoError(t, provider.CheckRequest(&llm.Request{Messages: []llm.Message{user}}, false))
}

func TestProjectorKeepsABoundedNumber(t *testing.T) {
	var p provider.Projector
	one, err := p.Project(json.RawMessage(`{"type":"object"}`))
	require.NoError(t, err)
	again, err := p.Project(json.RawMessage(`{"type":"object"}`))
	require.NoError(t, err)
	require.Same(t, one, again)
	for i := range 300 {
		_, err := p.Project(json.RawMessage(`{"const":` + strings.Repeat("1", i+1) + `}`))
		require.NoError(t, err)
	}
	_, err = p.Project(json.RawMessage(`{`))
	require.Error(t, err)
}

func TestWordsEndTheLastUserMessage(t *testing.T) {
	proj, err := llm.Project(json.RawMessage(`{"type":"object"}`))
	require.NoError(t, err)
	msgs := []llm.Message{{Role: llm.System, Text: "be brief"}, {Role: llm.User, Text: "x"}, {Role: llm.Assistant, Text: "y"}}
	got := provider.InWords(msgs, proj)
	require.Len(t, got, 3)
	require.True(t, strings.HasPrefix(got[1].Text, "x\n\n"))
	require.Equal(t, "x", msgs[1].Text, "the request is not changed")
	got = provider.InWords(msgs[:1], proj)
	require.Len(t, got, 2)
	require.Equal(t, llm.User, got[1].Role)
}
