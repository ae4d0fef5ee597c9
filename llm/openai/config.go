package openai

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
)

// SchemaMode says how a reply is made to fit Request.Schema. The zero value is
// Words, which every server understands and nothing enforces.
type SchemaMode uint8

// The ways to ask for a reply under a schema.
const (
	Words          SchemaMode = iota // the schema stands in the prompt
	ResponseFormat                   // response_format with a JSON Schema: OpenAI, vLLM, llama.cpp, Ollama, LM Studio
	ForcedTool                       // a tool that the model has to call: servers that have tools only
)

var schemaModes = [...]string{"words", "response format", "forced tool"}

// String names the mode.
func (m SchemaMode) String() string {
	if int(m) < len(schemaModes) {
		return schemaModes[m]
	}
	return fmt.Sprintf("SchemaMode(%d)", uint8(m))
}

// Config says where the model is and what its server can do. The server is not
// asked: what it cannot do it may ignore in silence.
type Config struct {
	// BaseURL ends before "/chat/completions": "https://api.openai.com/v1",
	// "http://127.0.0.1:8080/v1". It holds no password and no query.
	BaseURL string
	// APIKey is sent as a bearer token, and appears in no error or log. Servers
	// on the own machine need none.
	APIKey string
	Model  string
	// Schema says how replies under a schema are asked for.
	Schema SchemaMode
	// Tools says that model and server call tools natively. Many small models do
	// not, whatever the server says: leave it false for llama.cpp unless tried.
	Tools bool
	// Strict speaks OpenAI's own dialect: strict schemas wherever they are
	// closed, and max_completion_tokens. Other servers know max_tokens.
	Strict bool
	// MaxTokens bounds replies of requests that set no bound of their own. Zero
	// is the server's.
	MaxTokens int
	// MaxReply bounds a reply with all that surrounds it, in bytes. Zero is 4 MiB.
	MaxReply int64
	// HTTPClient is nil for a client of our own. It follows no redirect in either
	// case: a prompt and a key go where they were meant to go.
	HTTPClient *http.Client
}

const defaultMaxReply = 4 << 20

func (c *Config) check() error {
	u, err := url.Parse(c.BaseURL)
	switch {
	case err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https"):
		// The URL itself may hold a secret, so it is not repeated.
		return errors.New("openai: Config.BaseURL is not an http or https URL")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return errors.New("openai: Config.BaseURL has a password, a query or a fragment: put the key into Config.APIKey")
	case c.Model == "":
		return errors.New("openai: Config.Model is empty")
	case int(c.Schema) >= len(schemaModes):
		return fmt.Errorf("openai: Config.Schema is %s", c.Schema)
	case c.Schema == ForcedTool && !c.Tools:
		return errors.New("openai: Config.Schema is ForcedTool and Config.Tools is false")
	case c.MaxTokens < 0 || c.MaxReply < 0:
		return errors.New("openai: Config.MaxTokens or Config.MaxReply is negative")
	case strings.ContainsAny(c.APIKey, "\r\n\x00"):
		return errors.New("openai: Config.APIKey has a line break in it")
	}
	return nil
}

// String gives the configuration without its key.
func (c Config) String() string {
	return fmt.Sprintf("openai %s at %s (schema: %s, tools: %t)", c.Model, shownURL(c.BaseURL), c.Schema, c.Tools)
}

// GoString is String, so that %#v shows no key either.
func (c Config) GoString() string { return c.String() }

// LogValue gives the configuration without its key.
func (c Config) LogValue() slog.Value { return slog.StringValue(c.String()) }

func shownURL(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return "?"
	}
	return u.Scheme + "://" + u.Host + u.Path
}
