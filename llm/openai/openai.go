// Package openai is a client for servers that speak OpenAI's chat completions:
// OpenAI itself, vLLM, llama.cpp, LM Studio, and Ollama under /v1.
//
// A reply is whole or an error: a stream that ends early, a broken or an error
// chunk in it, a token limit, a content filter, tool arguments that are not
// JSON, and a reply over the size limit all become an [*llm.Error]. A schema is
// sent as a projection (see [llm.Project]), and what comes back is extracted
// and restored; whether it fits is for whoever asked to check. Where a reply to
// a schema holds no single JSON value, its text is returned as it came.
//
//	model, err := openai.New(openai.Config{
//		BaseURL: "http://127.0.0.1:8080/v1",
//		Model:   "qwen2.5-coder-1.5b-instruct",
//		Schema:  openai.ResponseFormat,
//	})
//
// # Trust
//
// The server is trusted with the prompt, and not with the process: all that it
// sends is bounded and decoded strictly. The key is sent to Config.BaseURL and
// nowhere else, redirects are not followed, and it is blotted out of errors.
//
// # Source
//
// OpenAI's API reference for chat completions; the deviations of the other
// servers as the tests name them.
package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/llm/internal/provider"
)

// maxErrorBody bounds what is read of an error's body, in bytes.
const maxErrorBody = 64 << 10

// Client is a model behind a server. It is safe for concurrent use.
type Client struct {
	cfg        Config
	endpoint   string
	http       *http.Client
	projector  provider.Projector
	redactions *strings.Replacer
}

var (
	_ llm.LLM      = (*Client)(nil)
	_ llm.Capable  = (*Client)(nil)
	_ llm.Streamer = (*Client)(nil)
)

// New makes a client. It connects to nothing.
func New(cfg Config) (*Client, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	if cfg.MaxReply == 0 {
		cfg.MaxReply = defaultMaxReply
	}
	hc := &http.Client{}
	if cfg.HTTPClient != nil {
		*hc = *cfg.HTTPClient
	}
	hc.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	cfg.HTTPClient = nil
	return &Client{
		cfg:        cfg,
		endpoint:   strings.TrimRight(cfg.BaseURL, "/") + "/chat/completions",
		http:       hc,
		redactions: redactor(cfg.APIKey),
	}, nil
}

// Capabilities are what the configuration says. Words constrain nothing and
// are no capability.
func (c *Client) Capabilities() llm.Capabilities {
	return llm.Capabilities{Tools: c.cfg.Tools, Schema: c.cfg.Schema != Words}
}

// String names the model and its server, and shows no key.
func (c *Client) String() string { return c.cfg.String() }

// GoString is String, so that %#v shows no key either.
func (c *Client) GoString() string { return c.cfg.String() }

// LogValue names the model and its server, and shows no key.
func (c *Client) LogValue() slog.Value { return c.cfg.LogValue() }

// Generate asks for one reply. Errors are [*llm.Error], but for the end of ctx,
// whose cause is wrapped.
func (c *Client) Generate(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	res, err := c.generate(ctx, req)
	if err != nil {
		return nil, c.failure(ctx, err)
	}
	return res, nil
}

func (c *Client) generate(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	t, err := c.turn(req)
	if err != nil {
		return nil, err
	}
	reply, err := c.post(ctx, t, false)
	if err != nil {
		return nil, err
	}
	defer func() { _ = reply.Body.Close() }()
	return t.decode(limit(reply.Body, c.cfg.MaxReply))
}

// Stream shows the reply's text as it comes. The text of a reply under a schema
// is shown whole, at the end, since on the way it is a projection's. Each loop
// over what it returns asks anew.
func (c *Client) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		// Breaking off has to end the request even where the server goes on.
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		broke := false
		res, err := c.stream(ctx, req, func(text string) bool {
			broke = !yield(llm.Chunk{Text: text}, nil)
			return !broke
		})
		switch {
		case broke:
		case err != nil:
			yield(llm.Chunk{}, c.failure(ctx, err))
		default:
			yield(llm.Chunk{Response: res}, nil)
		}
	}
}

func (c *Client) stream(ctx context.Context, req *llm.Request, show func(string) bool) (*llm.Response, error) {
	t, err := c.turn(req)
	if err != nil {
		return nil, err
	}
	reply, err := c.post(ctx, t, true)
	if err != nil {
		return nil, err
	}
	defer func() { _ = reply.Body.Close() }()
	body := limit(reply.Body, c.cfg.MaxReply)
	late := t.projection != nil
	var res *llm.Response
	if isJSON(reply.Header) { // a server that does not stream
		res, err = t.decode(body)
		late = true
	} else {
		res, err = t.assemble(body, func(text string) bool { return late || show(text) })
	}
	if err == nil && late && res.Text != "" && !show(res.Text) {
		return nil, errBroke
	}
	return res, err
}

func isJSON(h http.Header) bool {
	kind, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	return err == nil && kind == "application/json"
}

// post sends the request and returns the reply if its status is 200.
func (c *Client) post(ctx context.Context, t *turn, stream bool) (*http.Response, error) {
	body, err := json.Marshal(t.request(stream))
	if err != nil {
		return nil, provider.Errorf(llm.BadRequest, "%w", err)
	}
	hr, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoint, bytes.NewReader(body))
	if err != nil {
		return nil, provider.Errorf(llm.BadRequest, "the base URL does not make a request")
	}
	hr.Header.Set("Content-Type", "application/json")
	if c.cfg.APIKey != "" {
		hr.Header.Set("Authorization", "Bearer "+c.cfg.APIKey)
	}
	reply, err := c.http.Do(hr)
	if err != nil {
		return nil, provider.Errorf(llm.Unavailable, "%w", withoutURL(err))
	}
	if reply.StatusCode == http.StatusOK {
		return reply, nil
	}
	defer func() { _ = reply.Body.Close() }()
	// Half an error body says enough, so a failure to read it all is no matter.
	text, _ := io.ReadAll(io.LimitReader(reply.Body, maxErrorBody))
	return nil, provider.Failure(reply.StatusCode, reply.Header, text, time.Now())
}

// withoutURL drops what net/http puts before the cause.
func withoutURL(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

// failure makes an error fit to be seen: the end of ctx is told by its cause,
// and the key is blotted out.
func (c *Client) failure(ctx context.Context, err error) error {
	if ended := provider.Ended(ctx, "openai"); ended != nil {
		return ended
	}
	e, ok := errors.AsType[*llm.Error](err)
	if !ok {
		e = &llm.Error{Kind: llm.Unknown, Err: err}
	}
	if text := fmt.Sprint(e.Err); c.redactions.Replace(text) != text {
		e = &llm.Error{Kind: e.Kind, Status: e.Status, RetryAfter: e.RetryAfter, Err: errors.New(c.redactions.Replace(text))}
	}
	return e
}

// redactor blots out a key as it is and as URLs and JSON write it.
func redactor(key string) *strings.Replacer {
	if key == "" {
		return strings.NewReplacer()
	}
	quoted, _ := json.Marshal(key) // a string always marshals
	const blot = "[key]"
	return strings.NewReplacer(
		key, blot,
		url.QueryEscape(key), blot,
		url.PathEscape(key), blot,
		strings.Trim(string(quoted), `"`), blot,
	)
}
