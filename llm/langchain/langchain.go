// Package langchain makes an [llm.LLM] of any model of
// github.com/tmc/langchaingo, and keeps what that library breaks.
//
// langchaingo v0.1.14 returns half an answer with a nil error when a stream is
// cut or cancelled, drops tools in silence for some providers, mixes up tool
// calls that are streamed, forgets the status of a failed request, and can
// panic on what a server sends. Here each of these is a typed error or the
// right result. It takes two things: a turn with tools or a schema is never
// streamed, and the provider's HTTP client is ours ([Client]), which sees what
// the library does not tell.
//
//	provider, err := openai.New(
//		openai.WithToken(key), openai.WithModel("gpt-4o-mini"),
//		openai.WithHTTPClient(langchain.Client(nil)),
//	)
//	if err != nil {
//		return err
//	}
//	model, err := langchain.New(provider, langchain.Config{Tools: true})
//
// A provider that is given another client still works: its failures are then of
// kind [llm.Unknown], and its streams are checked only by their stop reason.
// Ollama's provider works only with ours.
//
// The library always sends a temperature, 0 if a request sets none, and
// Ollama's provider lets that override its own options.
//
// For a server that speaks OpenAI's protocol, package llm/openai needs none of
// this.
//
// # Trust
//
// As for [llm]: the server is trusted with the prompt only. The key is the
// provider's; error texts of ours repeat what the provider and its server say.
//
// # Source
//
// The behaviours were measured on langchaingo v0.1.14; each has a test here.
package langchain

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/llm/internal/provider"
)

// Config says what the model can do. The zero value is text and schemas in
// words, whole replies only, which every provider can.
type Config struct {
	// Tools says that the provider sends tools. Of langchaingo's own providers
	// openai, anthropic, googleai, vertex, mistral and bedrock do; [New] refuses
	// it for the others, which drop them in silence. With tools, a reply under a
	// schema is asked for as a call of a tool, and without in words.
	Tools bool
	// Stream asks the provider to stream turns that have neither tools nor a
	// schema. Without it a streamed turn is shown at once, at its end.
	Stream bool
	// MaxTokens bounds replies of requests that set no bound of their own. Zero
	// is the provider's.
	MaxTokens int
	// Options are added to each call, before ours.
	Options []llms.CallOption
}

// Model is a model of langchaingo. It is safe for concurrent use if that is.
type Model struct {
	model     llms.Model
	cfg       Config
	ollama    bool // langchaingo's own provider of it
	projector provider.Projector
}

var (
	_ llm.LLM      = (*Model)(nil)
	_ llm.Capable  = (*Model)(nil)
	_ llm.Streamer = (*Model)(nil)
)

const ownPath = "github.com/tmc/langchaingo/llms/"

// sendTools are langchaingo's providers that pass tools on.
var sendTools = []string{"openai", "anthropic", "googleai", "vertex", "mistral", "bedrock"}

// New makes a model of langchaingo's. It connects to nothing.
func New(model llms.Model, cfg Config) (*Model, error) {
	if model == nil || reflect.ValueOf(model).Kind() == reflect.Pointer && reflect.ValueOf(model).IsNil() {
		return nil, errors.New("langchain: the model is nil")
	}
	if cfg.MaxTokens < 0 {
		return nil, errors.New("langchain: Config.MaxTokens is negative")
	}
	name, own := providerOf(model)
	if cfg.Tools && own && !slices.Contains(sendTools, name) {
		advice := "set Config.Tools to false"
		if name == "ollama" {
			advice = "use langchaingo's openai provider, or llm/openai, with Ollama's endpoint under /v1"
		}
		return nil, fmt.Errorf("langchain: langchaingo's provider %s drops tools without a word: %s", name, advice)
	}
	cfg.Options = slices.Clone(cfg.Options)
	return &Model{model: model, cfg: cfg, ollama: own && name == "ollama"}, nil
}

// providerOf is the package that the model's type is of, and whether that is
// one of langchaingo's.
func providerOf(model llms.Model) (name string, own bool) {
	t := reflect.TypeOf(model)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	path, own := strings.CutPrefix(t.PkgPath(), ownPath)
	return path[strings.LastIndex(path, "/")+1:], own
}

// Capabilities are what the configuration says: with tools a schema can be
// asked for as one.
func (m *Model) Capabilities() llm.Capabilities {
	return llm.Capabilities{Tools: m.cfg.Tools, Schema: m.cfg.Tools}
}

// Generate asks for one reply, not streamed. Errors are [*llm.Error], but for
// the end of ctx, whose cause is wrapped.
func (m *Model) Generate(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	t, err := m.turn(req)
	if err != nil {
		return nil, err
	}
	return m.call(ctx, t, nil)
}

// Stream shows the reply's text as it comes where Config.Stream says so and the
// turn has neither tools nor a schema, and otherwise whole, at its end. Each
// loop over what it returns asks anew.
func (m *Model) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	if !m.cfg.Stream || req == nil || len(req.Tools) > 0 || len(req.Schema) > 0 {
		return llm.Stream(ctx, llm.Func(m.Generate), req)
	}
	return func(yield func(llm.Chunk, error) bool) {
		t, err := m.turn(req)
		if err != nil {
			yield(llm.Chunk{}, err)
			return
		}
		m.stream(ctx, t, yield)
	}
}
