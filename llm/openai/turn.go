package openai

import (
	"encoding/json"

	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/llm/internal/provider"
)

// turn is one request and the way back from its reply.
type turn struct {
	cfg        *Config
	req        *llm.Request
	tools      *provider.Toolset
	projection *llm.Projection // of the schema, or nil
}

func (c *Client) turn(req *llm.Request) (*turn, error) {
	if err := provider.CheckRequest(req, c.cfg.Tools); err != nil {
		return nil, err
	}
	t := &turn{cfg: &c.cfg, req: req}
	var err error
	if t.tools, err = provider.NewToolset(req, &c.projector); err != nil {
		return nil, err
	}
	if len(req.Schema) > 0 {
		if t.projection, err = c.projector.Project(req.Schema); err != nil {
			return nil, provider.Errorf(llm.BadRequest, "Request.Schema: %w", err)
		}
	}
	return t, nil
}

// The wire's names. Only what we send is here.
type (
	wireRequest struct {
		Model               string         `json:"model"`
		Messages            []wireMessage  `json:"messages"`
		Tools               []wireTool     `json:"tools,omitempty"`
		ToolChoice          any            `json:"tool_choice,omitempty"`
		ResponseFormat      *wireFormat    `json:"response_format,omitempty"`
		MaxTokens           int            `json:"max_tokens,omitempty"`
		MaxCompletionTokens int            `json:"max_completion_tokens,omitempty"`
		Temperature         *float64       `json:"temperature,omitempty"`
		Stream              bool           `json:"stream,omitempty"`
		StreamOptions       *streamOptions `json:"stream_options,omitempty"`
	}
	wireMessage struct {
		Role       string     `json:"role"`
		Content    string     `json:"content"`
		ToolCalls  []wireCall `json:"tool_calls,omitempty"`
		ToolCallID string     `json:"tool_call_id,omitempty"`
	}
	wireCall struct {
		ID       string       `json:"id"`
		Type     string       `json:"type"`
		Function wireCallBody `json:"function"`
	}
	wireCallBody struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
	wireTool struct {
		Type     string       `json:"type"`
		Function wireFunction `json:"function"`
	}
	wireFunction struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters"`
		Strict      bool            `json:"strict,omitempty"`
	}
	wireFormat struct {
		Type       string     `json:"type"`
		JSONSchema wireSchema `json:"json_schema"`
	}
	wireSchema struct {
		Name   string          `json:"name"`
		Schema json.RawMessage `json:"schema"`
		Strict bool            `json:"strict"`
	}
	streamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	}
	forcedChoice struct {
		Type     string     `json:"type"`
		Function forcedName `json:"function"`
	}
	forcedName struct {
		Name string `json:"name"`
	}
)

func (t *turn) request(stream bool) wireRequest {
	w := wireRequest{Model: t.cfg.Model, Temperature: t.req.Temperature, Stream: stream}
	if stream {
		w.StreamOptions = &streamOptions{IncludeUsage: true}
	}
	limit := t.req.MaxTokens
	if limit == 0 {
		limit = t.cfg.MaxTokens
	}
	if t.cfg.Strict {
		w.MaxCompletionTokens = limit
	} else {
		w.MaxTokens = limit
	}
	for _, m := range t.messages() {
		w.Messages = append(w.Messages, t.message(m))
	}
	for _, tool := range t.tools.Tools {
		w.Tools = append(w.Tools, wireTool{"function", wireFunction{tool.Name, tool.Description, tool.Parameters, t.cfg.Strict && tool.Strict}})
	}
	if t.projection != nil {
		t.askSchema(&w)
	}
	return w
}

var roles = map[llm.Role]string{
	llm.System: "system", llm.User: "user", llm.Assistant: "assistant", llm.ToolResult: "tool",
}

func (t *turn) message(m llm.Message) wireMessage {
	w := wireMessage{Role: roles[m.Role], Content: m.Text, ToolCallID: m.CallID}
	if m.Role != llm.ToolResult {
		w.ToolCallID = ""
	}
	for _, c := range m.Calls {
		w.ToolCalls = append(w.ToolCalls, wireCall{c.ID, "function", wireCallBody{t.tools.Sent(c.Name), string(c.Arguments)}})
	}
	return w
}

// askSchema asks for a reply under the schema, in the server's way.
func (t *turn) askSchema(w *wireRequest) {
	strict := t.cfg.Strict && t.projection.Strict
	switch t.cfg.Schema {
	case ResponseFormat:
		// Servers other than OpenAI constrain only where strict is said, or always.
		strict = strict || !t.cfg.Strict
		w.ResponseFormat = &wireFormat{"json_schema", wireSchema{"reply", t.projection.Schema, strict}}
	case ForcedTool:
		w.Tools = append(w.Tools, wireTool{"function", wireFunction{
			provider.ForcedTool, "Gives the reply. Call it once, with the whole reply.", t.projection.Schema, strict,
		}})
		if len(w.Tools) > 1 {
			w.ToolChoice = "required"
			return
		}
		w.ToolChoice = forcedChoice{"function", forcedName{provider.ForcedTool}}
	}
}

// messages are the request's, with the schema in words where that is the way.
func (t *turn) messages() []llm.Message {
	if t.projection == nil || t.cfg.Schema != Words {
		return t.req.Messages
	}
	return provider.InWords(t.req.Messages, t.projection)
}
