package openai_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/llm/openai"
)

const key = `sk-very"secret/key+1`

// served is a client in front of a loopback server that answers with handle.
func served(t *testing.T, cfg openai.Config, handle http.HandlerFunc) *openai.Client {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		handle(w, r)
	}))
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	cfg.BaseURL, cfg.Model, cfg.APIKey = s.URL+"/v1/", "test", key
	c, err := openai.New(cfg)
	require.NoError(t, err)
	return c
}

func replying(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, body)
	}
}

func user(text string) *llm.Request {
	return &llm.Request{Messages: []llm.Message{{Role: llm.User, Text: text}}}
}

func streamed(ctx context.Context, m llm.LLM, req *llm.Request) (shown string, res *llm.Response, err error) {
	for c, e := range llm.Stream(ctx, m, req) {
		shown += c.Text
		res, err = c.Response, e
	}
	return shown, res, err
}

func TestNewRefusesConfigurationsThatCannotWork(t *testing.T) {
	ok := openai.Config{BaseURL: "http://127.0.0.1:1/v1", Model: "m"}
	_, err := openai.New(ok)
	require.NoError(t, err)
	for name, change := range map[string]func(*openai.Config){
		"no URL":           func(c *openai.Config) { c.BaseURL = "" },
		"no host":          func(c *openai.Config) { c.BaseURL = "http:///v1" },
		"another scheme":   func(c *openai.Config) { c.BaseURL = "file:///etc/passwd" },
		"password in it":   func(c *openai.Config) { c.BaseURL = "http://u:" + "hunter2" + "@host/v1" },
		"key in it":        func(c *openai.Config) { c.BaseURL = "http://host/v1?key=hunter2" },
		"broken URL":       func(c *openai.Config) { c.BaseURL = "http://hunter2\x7f" },
		"no model":         func(c *openai.Config) { c.Model = "" },
		"unknown schema":   func(c *openai.Config) { c.Schema = 9 },
		"forced, no tools": func(c *openai.Config) { c.Schema = openai.ForcedTool },
		"negative limit":   func(c *openai.Config) { c.MaxReply = -1 },
		"negative tokens":  func(c *openai.Config) { c.MaxTokens = -1 },
		"key with a line":  func(c *openai.Config) { c.APIKey = "hunter2\r\nX: y" },
	} {
		cfg := ok
		change(&cfg)
		_, err := openai.New(cfg)
		require.Error(t, err, name)
		require.NotContains(t, err.Error(), "hunter2", name)
	}
}

func TestKeyIsInNoErrorLogOrPrint(t *testing.T) {
	var printed strings.Builder
	see := func(v ...any) { fmt.Fprintln(&printed, v...) }
	cfg := openai.Config{BaseURL: "http://127.0.0.1:1/v1", Model: "m", APIKey: key}
	c, err := openai.New(cfg)
	require.NoError(t, err)
	see(fmt.Sprintf("%v %+v %#v %s %v %+v %#v", cfg, cfg, cfg, cfg, c, c, c))
	slog.New(slog.NewTextHandler(&printed, nil)).Info("made", "config", cfg, "client", c)
	slog.New(slog.NewJSONHandler(&printed, nil)).Info("made", "config", cfg, "client", c)
	_, err = c.Generate(t.Context(), user("hello")) // nobody listens there
	require.Equal(t, llm.Unavailable, llm.KindOf(err))
	see(err)

	var sent string
	quoted, _ := json.Marshal(key)
	for _, echo := range []string{key, string(quoted), "sk-very%22secret%2Fkey%2B1"} {
		for _, status := range []int{200, 401, 500} {
			c := served(t, openai.Config{}, func(w http.ResponseWriter, r *http.Request) {
				sent = r.Header.Get("Authorization")
				w.WriteHeader(status)
				body, _ := json.Marshal(map[string]any{"error": map[string]any{"message": "no such key " + echo}})
				_, _ = w.Write(body)
			})
			_, err := c.Generate(t.Context(), user("hello"))
			require.Error(t, err)
			see(err, fmt.Sprintf("%+v %#v", err, err))
			_, _, err = streamed(t.Context(), c, user("hello"))
			require.Error(t, err)
			see(err)
		}
	}
	require.Equal(t, "Bearer "+key, sent)
	require.NotContains(t, printed.String(), "secret")
	require.NotContains(t, printed.String(), "key+1")
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the prompt went elsewhere") }))
	defer elsewhere.Close()
	for _, status := range []int{301, 302, 307, 308} {
		c := served(t, openai.Config{}, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL, status)
		})
		_, err := c.Generate(t.Context(), user("hello"))
		require.Equal(t, llm.BadRequest, llm.KindOf(err), "%v", err)
	}
}

func TestRetryAfterAsADate(t *testing.T) {
	c := served(t, openai.Config{}, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", time.Now().Add(90*time.Second).UTC().Format(http.TimeFormat))
		w.WriteHeader(http.StatusTooManyRequests)
	})
	_, err := c.Generate(t.Context(), user("hello"))
	e, ok := errors.AsType[*llm.Error](err)
	require.True(t, ok)
	require.InDelta(t, 90, e.RetryAfter.Seconds(), 5)
}

func TestRepliesThatAreNotWholeOrNotOfTheProtocol(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		kind llm.Kind
	}{
		"no JSON":             {`It works!`, llm.Malformed},
		"half of it":          {`{"choices":[{"message":{"content":"Do not`, llm.Malformed},
		"two values":          {`{"choices":[]}{}`, llm.Malformed},
		"no choices":          {`{}`, llm.Malformed},
		"two choices":         {`{"choices":[{"message":{"content":"a"},"finish_reason":"stop"},{"message":{"content":"b"},"finish_reason":"stop"}]}`, llm.Malformed},
		"no finish":           {`{"choices":[{"message":{"content":"a"}}]}`, llm.Truncated},
		"null finish":         {`{"choices":[{"message":{"content":"a"},"finish_reason":null}]}`, llm.Truncated},
		"length":              {`{"choices":[{"message":{"content":"a"},"finish_reason":"length"}]}`, llm.Truncated},
		"filter":              {`{"choices":[{"message":{"content":"a"},"finish_reason":"content_filter"}]}`, llm.Filtered},
		"refusal":             {`{"choices":[{"message":{"refusal":"I will not"},"finish_reason":"stop"}]}`, llm.Filtered},
		"unknown finish":      {`{"choices":[{"message":{"content":"a"},"finish_reason":"whim"}]}`, llm.Malformed},
		"tools without calls": {`{"choices":[{"message":{"content":"a"},"finish_reason":"tool_calls"}]}`, llm.Malformed},
		"function_call":       {`{"choices":[{"message":{"function_call":{"name":"f","arguments":"{}"}},"finish_reason":"function_call"}]}`, llm.Malformed},
		"nameless call":       {`{"choices":[{"message":{"tool_calls":[{"id":"a","function":{"arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`, llm.Malformed},
		"twin calls":          {`{"choices":[{"message":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}},{"id":"a","function":{"name":"g","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`, llm.Malformed},
		"odd content":         {`{"choices":[{"message":{"content":7},"finish_reason":"stop"}]}`, llm.Malformed},
		"error with 200":      {`{"error":{"message":"x","code":429}}`, llm.RateLimited},
		"error text with 200": {`{"error":"out of memory"}`, llm.Unknown},
		"too large":           {`{"choices":[{"message":{"content":"` + strings.Repeat("x", 2000) + `"},"finish_reason":"stop"}]}`, llm.Malformed},
	} {
		t.Run(name, func(t *testing.T) {
			m := served(t, openai.Config{Tools: true, MaxReply: 1000}, replying(c.body))
			res, err := m.Generate(t.Context(), user("May I?"))
			require.Nil(t, res)
			require.Equal(t, c.kind, llm.KindOf(err), "%v", err)
			_, res, err = streamed(t.Context(), m, user("May I?")) // from a server that does not stream
			require.Nil(t, res)
			require.Equal(t, c.kind, llm.KindOf(err), "%v", err)
		})
	}
}

func TestRepliesInTheDialectsOfServers(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		want llm.Response
	}{
		"parts": {`{"choices":[{"message":{"content":[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}]},"finish_reason":"stop"}]}`,
			llm.Response{Text: "ab", Finish: llm.FinishStop}},
		"null content, arguments as an object, stop with calls, no id": {`{"choices":[{"message":{"content":null,"tool_calls":[{"function":{"name":"f","arguments":{"x":1}}}]},"finish_reason":"stop"}]}`,
			llm.Response{Finish: llm.FinishTools, Calls: []llm.ToolCall{{ID: "call_0", Name: "f", Arguments: []byte(`{"x":1}`)}}}},
		"null everywhere": {`{"error":null,"usage":null,"choices":[{"message":{"content":"a","tool_calls":null,"function_call":null,"refusal":null},"finish_reason":"stop","logprobs":null}]}`,
			llm.Response{Text: "a", Finish: llm.FinishStop}},
	} {
		res, err := served(t, openai.Config{Tools: true}, replying(c.body)).Generate(t.Context(), user("hello"))
		require.NoError(t, err, name)
		require.Equal(t, c.want, *res, name)
	}
}

func TestWhatIsSent(t *testing.T) {
	var sent map[string]any
	handle := func(w http.ResponseWriter, r *http.Request) {
		sent = nil
		_ = json.NewDecoder(r.Body).Decode(&sent)
		replying(`{"choices":[{"message":{"content":"{}"},"finish_reason":"stop"}]}`)(w, r)
	}
	req := user("hello")
	req.Tools = []llm.Tool{{Name: "a.b", Parameters: []byte(`{"type":"object","properties":{"x":{"type":"string","pattern":"p"}}}`)}}
	req.Schema = []byte(`{"type":"object","properties":{"a":{"type":"string","format":"date"}},"required":["a"]}`)

	_, err := served(t, openai.Config{Tools: true, Schema: openai.ResponseFormat, Strict: true, MaxTokens: 9}, handle).Generate(t.Context(), req)
	require.NoError(t, err)
	require.EqualValues(t, 9, sent["max_completion_tokens"])
	require.NotContains(t, sent, "max_tokens")
	require.NotContains(t, sent, "temperature")
	require.NotContains(t, sent, "stream")
	format := sent["response_format"].(map[string]any)["json_schema"].(map[string]any)
	require.Equal(t, true, format["strict"])
	tool := sent["tools"].([]any)[0].(map[string]any)["function"].(map[string]any)
	require.Equal(t, "a_b", tool["name"])
	require.Equal(t, true, tool["strict"])
	require.NotContains(t, fmt.Sprint(sent), "pattern")
	require.NotContains(t, fmt.Sprint(sent), "format:date")

	_, err = served(t, openai.Config{Tools: true, Schema: openai.ForcedTool}, handle).Generate(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, "required", sent["tool_choice"])
	require.Len(t, sent["tools"], 2)
	require.NotContains(t, sent, "response_format")

	req.Tools, req.MaxTokens, req.Temperature = nil, 5, new(0.0)
	_, err = served(t, openai.Config{Tools: true, Schema: openai.ForcedTool, MaxTokens: 9}, handle).Generate(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, map[string]any{"type": "function", "function": map[string]any{"name": "reply"}}, sent["tool_choice"])
	require.EqualValues(t, 5, sent["max_tokens"])
	require.EqualValues(t, 0, sent["temperature"])

	_, err = served(t, openai.Config{}, handle).Generate(t.Context(), req)
	require.NoError(t, err)
	require.NotContains(t, sent, "response_format")
	require.Contains(t, fmt.Sprint(sent["messages"]), "JSON Schema")
}

func TestCapabilitiesAreThoseOfTheConfiguration(t *testing.T) {
	for _, c := range []struct {
		cfg  openai.Config
		want llm.Capabilities
	}{
		{openai.Config{}, llm.Capabilities{}},
		{openai.Config{Schema: openai.ResponseFormat}, llm.Capabilities{Schema: true}},
		{openai.Config{Tools: true}, llm.Capabilities{Tools: true}},
		{openai.Config{Tools: true, Schema: openai.ForcedTool}, llm.Capabilities{Tools: true, Schema: true}},
	} {
		require.Equal(t, c.want, served(t, c.cfg, replying(``)).Capabilities())
	}
}
