package llm

import (
	"context"
	"encoding/json"
)

// LLM is a language model. An implementation must be safe for concurrent use,
// must obey ctx, and must never return half an answer with a nil error: a
// reply that was cut off is an [*Error] of kind [Truncated].
//
// The request belongs to the caller and must not be changed or kept. Errors
// are [*Error] where the cause is known; ctx ending gives an error for which
// errors.Is(err, context.Cause(ctx)) holds.
type LLM interface {
	Generate(ctx context.Context, req *Request) (*Response, error)
}

// Func makes an [LLM] of a function.
type Func func(ctx context.Context, req *Request) (*Response, error)

// Generate calls f.
func (f Func) Generate(ctx context.Context, req *Request) (*Response, error) { return f(ctx, req) }

// Capable is an optional interface of an [LLM]: what it is known to do. A model
// without it is taken to be capable of nothing but text, which always works:
// schemas and actions are then asked for in words and checked all the same.
type Capable interface {
	Capabilities() Capabilities
}

// Capabilities says what a model is known to do by itself.
type Capabilities struct {
	Tools  bool // native tool calls
	Schema bool // output constrained by Request.Schema
}

// CapabilitiesOf are the capabilities that m states, or none.
func CapabilitiesOf(m LLM) Capabilities {
	if c, ok := m.(Capable); ok {
		return c.Capabilities()
	}
	return Capabilities{}
}

// Request is one turn asked of a model.
type Request struct {
	Messages []Message
	// Tools are offered to the model. A model that does not state the
	// capability must refuse a request with tools with [BadRequest].
	Tools []Tool
	// Schema is the JSON Schema that the reply is to fit. It helps the model to
	// write; whoever asked checks the reply against their own format.
	Schema json.RawMessage
	// MaxTokens bounds the reply, in tokens. Zero is the model's own limit.
	MaxTokens int
	// Temperature is nil for the model's default.
	Temperature *float64
	// Purpose names the call for budgets, records and logs: "plan", "agent",
	// "decide", "match", "summary". It is never sent.
	Purpose string
}

// Message is one message of the conversation.
type Message struct {
	Role Role
	Text string
	// Calls are the tool calls of an Assistant message.
	Calls []ToolCall
	// CallID says which call a ToolResult message answers.
	CallID string
}

// Tool is a function that the model may call.
type Tool struct {
	Name        string
	Description string
	Parameters  json.RawMessage // a JSON Schema, an object at the root
}

// ToolCall is a call that the model asks for. Arguments is one JSON value.
type ToolCall struct {
	ID        string
	Name      string
	Arguments json.RawMessage
}

// Response is a whole reply.
type Response struct {
	Text   string
	Calls  []ToolCall
	Finish Finish
	Usage  Usage
}

// Usage counts tokens. A server that does not count leaves zeros.
type Usage struct {
	InputTokens  int
	OutputTokens int
}
