package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/tmc/langchaingo/llms/anthropic"

	"github.com/isolategpt/isolategpt/examples/casestudies/cases"
	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/llm/langchain"
	"github.com/isolategpt/isolategpt/llm/llmtest"
	"github.com/isolategpt/isolategpt/llm/openai"
)

// The providers by the names of -llm.
const (
	scripted = "scripted"
	openAI   = "openai"
	ollama   = "ollama"
	claude   = "anthropic"
	googleAI = "googleai"
)

// The servers that a model is looked for at without -base-url. Ollama and Google
// speak OpenAI's protocol there.
const (
	openAIServer = "https://api.openai.com/v1"
	ollamaServer = "http://127.0.0.1:11434/v1"
	googleServer = "https://generativelanguage.googleapis.com/v1beta/openai"
)

// modelFlag is the value of -llm, with that of -base-url.
type modelFlag struct {
	provider, name string
	baseURL        string
}

// MarshalText is what UnmarshalText reads.
func (f modelFlag) MarshalText() ([]byte, error) {
	if f.name == "" {
		return []byte(f.provider), nil
	}
	return []byte(f.provider + ":" + f.name), nil
}

// UnmarshalText reads PROVIDER:MODEL, or "scripted".
func (f *modelFlag) UnmarshalText(text []byte) error {
	provider, name, _ := strings.Cut(string(text), ":")
	switch provider {
	case scripted:
		if name != "" {
			return fmt.Errorf("scripted takes no model")
		}
	case openAI, ollama, claude, googleAI:
		if name == "" {
			return fmt.Errorf("%s needs a model: %s:MODEL", provider, provider)
		}
	default:
		return fmt.Errorf("no provider %q; there are scripted, openai, ollama, anthropic and googleai", provider)
	}
	f.provider, f.name = provider, name
	return nil
}

func (f modelFlag) check() error {
	if f.provider == scripted && f.baseURL != "" {
		return fmt.Errorf("-base-url: the scripted model has no server; say which with -llm")
	}
	_, err := f.open()
	return err
}

// callTimeout is for small models on slow machines.
const callTimeout = 5 * time.Minute

// open makes the model. It connects to nothing yet.
func (f modelFlag) open() (llm.LLM, error) {
	if f.provider == scripted {
		return llmtest.NewGullible(llmtest.GullibleConfig{Skills: cases.Skills()}), nil
	}
	model, err := f.connect()
	if err != nil {
		return nil, fmt.Errorf("-llm: %w", err)
	}
	return llm.Chain(model, llm.Timeout(callTimeout), llm.Retry(llm.RetryConfig{})), nil
}

func (f modelFlag) connect() (llm.LLM, error) {
	switch f.provider {
	case openAI:
		// A server of one's own may need no key, and its models may have no tool
		// calls whatever it says.
		own := f.baseURL != ""
		key := os.Getenv("OPENAI_API_KEY")
		if key == "" && !own {
			return nil, fmt.Errorf("OPENAI_API_KEY is not set; a server of your own is named by -base-url")
		}
		return openai.New(openai.Config{BaseURL: f.server(openAIServer), APIKey: key, Model: f.name, Schema: openai.ResponseFormat, Tools: !own, Strict: !own})
	case ollama:
		return openai.New(openai.Config{BaseURL: f.server(ollamaServer), Model: f.name, Schema: openai.ResponseFormat})
	case googleAI:
		key := os.Getenv("GOOGLE_API_KEY")
		if key == "" {
			return nil, fmt.Errorf("GOOGLE_API_KEY is not set")
		}
		return openai.New(openai.Config{BaseURL: f.server(googleServer), APIKey: key, Model: f.name, Schema: openai.ResponseFormat, Tools: true})
	default:
		return f.connectAnthropic()
	}
}

func (f modelFlag) connectAnthropic() (llm.LLM, error) {
	key := os.Getenv("ANTHROPIC_API_KEY")
	if key == "" {
		return nil, fmt.Errorf("ANTHROPIC_API_KEY is not set")
	}
	opts := []anthropic.Option{anthropic.WithToken(key), anthropic.WithModel(f.name), anthropic.WithHTTPClient(langchain.Client(nil))}
	if f.baseURL != "" {
		opts = append(opts, anthropic.WithBaseURL(f.baseURL))
	}
	provider, err := anthropic.New(opts...)
	if err != nil {
		return nil, err
	}
	return langchain.New(provider, langchain.Config{Tools: true, MaxTokens: 2000})
}

func (f modelFlag) server(usual string) string {
	if f.baseURL != "" {
		return f.baseURL
	}
	return usual
}
