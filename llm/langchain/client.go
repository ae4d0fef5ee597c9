package langchain

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/llm/internal/provider"
	"github.com/isolategpt/isolategpt/llm/internal/sse"
)

// Limits of what is read of a server, in bytes.
const (
	maxReply     = 4 << 20
	maxErrorBody = 64 << 10
)

// Client makes an HTTP client for a provider's WithHTTPClient option. It is
// base, or a plain one, with a transport that tells [Model] what langchaingo
// drops: status and Retry-After, and why a request failed. It bounds replies to
// 4 MiB, refuses streams with broken or error chunks, and follows no redirect.
// For requests that a Model did not make it does no more than bound them.
func Client(base *http.Client) *http.Client {
	c := &http.Client{}
	if base != nil {
		*c = *base
	}
	next := c.Transport
	if next == nil {
		next = http.DefaultTransport
	}
	c.Transport = &watcher{next: next}
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c
}

// exchangeKey finds the exchange of a call in its request's context: the one
// way through langchaingo to its HTTP client.
type exchangeKey struct{}

// exchange is what was seen of a call's last HTTP request. The provider may
// read the reply in a goroutine of its own, hence the lock.
type exchange struct {
	keep   bool // keep the reply's body
	strict bool // the turn is streamed, and offers no tools

	mu      sync.Mutex
	status  int
	failed  error // of the request, or of reading the reply
	header  http.Header
	content []byte // the body: of an error, or if keep is set
}

func (x *exchange) seen() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.status != 0
}

func (x *exchange) body() []byte {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.content
}

func (x *exchange) fail(err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.failed == nil {
		x.failed = err
	}
}

// failure is the typed error for what was seen, or nil.
func (x *exchange) failure() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if e, ok := errors.AsType[*llm.Error](x.failed); ok {
		return e
	}
	switch {
	case x.status == 0 && x.failed != nil:
		return provider.Errorf(llm.Unavailable, "%w", x.failed)
	case x.failed != nil:
		return provider.Errorf(llm.Truncated, "the connection broke off: %w", x.failed)
	case x.status != 0 && x.status != http.StatusOK:
		return provider.Failure(x.status, x.header, x.content, time.Now())
	}
	var reply struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(x.content, &reply) == nil && set(reply.Error) { // with status 200
		return provider.Failure(0, nil, x.content, time.Now())
	}
	return nil
}

type watcher struct{ next http.RoundTripper }

func (w *watcher) RoundTrip(r *http.Request) (*http.Response, error) {
	x, _ := r.Context().Value(exchangeKey{}).(*exchange)
	if x == nil {
		x = &exchange{}
	}
	res, err := w.next.RoundTrip(r)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err
		}
		x.fail(err)
		return nil, err
	}
	x.mu.Lock()
	x.status, x.header, x.failed, x.content = res.StatusCode, res.Header, nil, nil
	x.mu.Unlock()
	if res.StatusCode != http.StatusOK {
		return res, x.keepError(res)
	}
	var body io.Reader = &watched{r: res.Body, x: x, left: maxReply}
	if kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); kind == "text/event-stream" && x.strict {
		body = &checked{x: x, events: sse.NewReader(body)}
	}
	res.Body = readCloser{body, res.Body}
	return res, nil
}

// keepError reads an error's body and puts it back.
func (x *exchange) keepError(res *http.Response) error {
	// Half an error body says enough, so a failure to read it all is no matter.
	text, _ := io.ReadAll(io.LimitReader(res.Body, maxErrorBody))
	err := res.Body.Close()
	res.Body = io.NopCloser(bytes.NewReader(text))
	x.mu.Lock()
	defer x.mu.Unlock()
	x.content = text
	return err
}

type readCloser struct {
	io.Reader
	io.Closer
}

// watched bounds a body, keeps it if that is wanted, and notes how reading it
// failed.
type watched struct {
	r    io.Reader
	x    *exchange
	left int
}

func (w *watched) Read(p []byte) (int, error) {
	if len(p) > w.left+1 {
		p = p[:w.left+1]
	}
	n, err := w.r.Read(p)
	if n > w.left {
		n, err = w.left, provider.Errorf(llm.Malformed, "the reply is over %d bytes", maxReply)
	}
	w.left -= n
	if w.x.keep {
		w.x.mu.Lock()
		w.x.content = append(w.x.content, p[:n]...)
		w.x.mu.Unlock()
	}
	if err != nil && err != io.EOF {
		w.x.fail(err)
	}
	return n, err
}

// checked passes on a stream's events one by one, each only once it is known to
// be sound: langchaingo skips the chunks that it cannot decode and those that
// report an error, and hands on deltas of tool calls as text.
type checked struct {
	x      *exchange
	events *sse.Reader
	ready  []byte
	openai bool // an event had choices, so [DONE] is due
	done   bool
}

func (c *checked) Read(p []byte) (int, error) {
	for len(c.ready) == 0 {
		if err := c.next(); err != nil {
			if err != io.EOF {
				c.x.fail(err)
			}
			return 0, err
		}
	}
	n := copy(p, c.ready)
	c.ready = c.ready[n:]
	return n, nil
}

func (c *checked) next() error {
	e, err := c.events.Next()
	if err == io.EOF && c.openai && !c.done {
		return provider.Errorf(llm.Truncated, "the stream ended before [DONE]")
	}
	if err != nil {
		return err
	}
	if err := c.check(e); err != nil {
		return err
	}
	c.ready = c.ready[:0]
	if e.Name != "" {
		c.ready = fmt.Appendf(c.ready, "event: %s\n", e.Name)
	}
	for line := range bytes.SplitSeq(e.Data, []byte("\n")) {
		c.ready = fmt.Appendf(c.ready, "data: %s\n", line)
	}
	c.ready = append(c.ready, '\n')
	return nil
}

func (c *checked) check(e sse.Event) error {
	if string(e.Data) == "[DONE]" {
		c.done = true
		return nil
	}
	var chunk struct {
		Error   json.RawMessage `json:"error"`
		Choices []struct {
			Delta struct {
				ToolCalls    json.RawMessage `json:"tool_calls"`
				FunctionCall json.RawMessage `json:"function_call"`
			} `json:"delta"`
		} `json:"choices"`
	}
	if err := json.Unmarshal(e.Data, &chunk); err != nil {
		return provider.Errorf(llm.Malformed, "a chunk of the stream is not what the protocol says: %w", err)
	}
	if set(chunk.Error) || e.Name == "error" {
		return provider.Failure(0, nil, e.Data, time.Now())
	}
	for _, choice := range chunk.Choices {
		c.openai = true
		if set(choice.Delta.ToolCalls) || set(choice.Delta.FunctionCall) {
			return provider.Errorf(llm.Malformed, "the stream calls a tool and none was offered")
		}
	}
	return nil
}

// set says that a member is there and means something: some servers send null,
// or no calls.
func set(raw json.RawMessage) bool {
	return len(raw) > 0 && string(raw) != "null" && string(raw) != "[]"
}
