// Package provider holds what the adapters of model servers share: how a
// status, an error body and a Retry-After header are read, how tool names are
// made fit for a server, and how a context's end is told.
//
// # Trust
//
// Everything here is fed by a server, and is bounded and never panics.
//
// # Source
//
// The error bodies of OpenAI, vLLM, llama.cpp, Ollama, FastAPI and Google's
// compatible endpoint; RFC 9110 §10.2.3 (Retry-After).
package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/isolategpt/isolategpt/llm"
)

// maxText bounds a server's words in an error, in bytes.
const maxText = 300

// Errorf makes an [*llm.Error] whose cause is formatted.
func Errorf(kind llm.Kind, format string, args ...any) *llm.Error {
	return &llm.Error{Kind: kind, Err: fmt.Errorf(format, args...)}
}

// Ended is the error of a call whose context ended: it wraps the context's
// cause and, should that be another, ctx.Err. It is nil while ctx lives.
func Ended(ctx context.Context, who string) error {
	err := ctx.Err()
	if err == nil {
		return nil
	}
	cause := context.Cause(ctx)
	if errors.Is(cause, err) {
		return fmt.Errorf("llm: %s: %w", who, cause)
	}
	return fmt.Errorf("llm: %s: %w: %w", who, err, cause)
}

// Clean makes a server's words fit for one line of a log: bounded, no control
// characters.
func Clean(s string) string {
	s = strings.ToValidUTF8(s, "?")
	s = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > maxText {
		s = strings.ToValidUTF8(s[:maxText], "") + "…"
	}
	return s
}

// Arguments takes tool arguments that a server sent as a string. They must be
// one JSON value.
func Arguments(name, arguments string) (json.RawMessage, error) {
	if !json.Valid([]byte(arguments)) {
		return nil, Errorf(llm.Malformed, "the arguments of a call of %.64q are not one JSON value", name)
	}
	return json.RawMessage(strings.TrimSpace(arguments)), nil
}

// Shaped takes the JSON value out of a reply that was to fit a schema, and
// undoes the projection. Text that holds no single value is returned as it is:
// whoever asked checks it, and can ask again with it at hand.
func Shaped(p *llm.Projection, text string) string {
	raw, err := llm.Extract(text)
	if err != nil {
		return text
	}
	restored, err := p.Restore(raw)
	if err != nil {
		return text
	}
	return string(restored)
}

// InWords gives messages that also ask in words for a reply that fits the
// projection, for models that nothing constrains. The words end the last user
// message: a small model obeys what it read last, and the chat templates of
// many take no system message but the first.
func InWords(messages []llm.Message, p *llm.Projection) []llm.Message {
	words := "Reply with one JSON value and nothing else: no prose, no code fence. It must fit this JSON Schema:\n" + string(p.Schema)
	for i, m := range slices.Backward(messages) {
		if m.Role == llm.User {
			messages = slices.Clone(messages)
			messages[i].Text += "\n\n" + words
			return messages
		}
	}
	return slices.Concat(messages, []llm.Message{{Role: llm.User, Text: words}})
}
