package openai

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/llm/internal/provider"
)

// wireReply is a reply, or a chunk of a streamed one.
type wireReply struct {
	Choices []wireChoice    `json:"choices"`
	Usage   *wireUsage      `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

type wireChoice struct {
	Index        int         `json:"index"`
	Message      wireContent `json:"message"`
	Delta        wireContent `json:"delta"`
	FinishReason string      `json:"finish_reason"`
}

type wireContent struct {
	Content      wireText        `json:"content"`
	Refusal      string          `json:"refusal"`
	ToolCalls    []wireToolCall  `json:"tool_calls"`
	FunctionCall json.RawMessage `json:"function_call"`
}

type wireToolCall struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string        `json:"name"`
		Arguments wireArguments `json:"arguments"`
	} `json:"function"`
}

type wireUsage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
}

// wireText is content: a string, null, or parts with text.
type wireText string

func (w *wireText) UnmarshalJSON(b []byte) error {
	var s *string
	if json.Unmarshal(b, &s) == nil {
		if s != nil {
			*w = wireText(*s)
		}
		return nil
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(b, &parts); err != nil {
		return errors.New("content is neither text nor parts with text")
	}
	for _, p := range parts {
		if p.Type == "text" {
			*w += wireText(p.Text)
		}
	}
	return nil
}

// wireArguments are a string that holds JSON; some servers send the JSON.
type wireArguments string

func (w *wireArguments) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil { // null as well
		*w = wireArguments(s)
		return nil
	}
	*w = wireArguments(b)
	return nil
}

// decode reads a reply that is not streamed.
func (t *turn) decode(r io.Reader) (*llm.Response, error) {
	body, err := io.ReadAll(r)
	if err != nil {
		return nil, readFailure(err)
	}
	var w wireReply
	if err := json.Unmarshal(body, &w); err != nil {
		return nil, provider.Errorf(llm.Malformed, "the reply is not what the protocol says: %w", err)
	}
	if err := w.failure(body); err != nil {
		return nil, err
	}
	if len(w.Choices) != 1 {
		return nil, provider.Errorf(llm.Malformed, "the reply has %d choices instead of one", len(w.Choices))
	}
	c := w.Choices[0]
	g := gathered{finish: c.FinishReason, usage: w.Usage}
	g.text.WriteString(string(c.Message.Content))
	if err := c.Message.refused(); err != nil {
		return nil, err
	}
	for _, tc := range c.Message.ToolCalls {
		g.calls = append(g.calls, &call{id: tc.ID, name: tc.Function.Name})
		g.calls[len(g.calls)-1].arguments.WriteString(string(tc.Function.Arguments))
	}
	return t.response(&g)
}

// failure is the error that a reply holds in place of an answer.
func (w *wireReply) failure(body []byte) error {
	if len(w.Error) == 0 || string(w.Error) == "null" {
		return nil
	}
	return provider.Failure(0, nil, body, time.Now())
}

func (c *wireContent) refused() error {
	if c.Refusal != "" {
		return provider.Errorf(llm.Filtered, "the model refused: %s", provider.Clean(c.Refusal))
	}
	if len(c.FunctionCall) > 0 && string(c.FunctionCall) != "null" {
		return provider.Errorf(llm.Malformed, "the reply has a function_call, which was replaced by tool_calls")
	}
	return nil
}

// readFailure is for a body that broke off or grew too large.
func readFailure(err error) error {
	if _, ok := errors.AsType[*llm.Error](err); ok {
		return err
	}
	return provider.Errorf(llm.Truncated, "the connection broke off: %w", err)
}

// gathered is a reply in the server's terms, however it came.
type gathered struct {
	text   strings.Builder
	calls  []*call
	finish string
	usage  *wireUsage
}

type call struct {
	id, name  string
	arguments strings.Builder
}

// response turns a whole reply into ours.
func (t *turn) response(g *gathered) (*llm.Response, error) {
	if err := finished(g); err != nil {
		return nil, err
	}
	res := &llm.Response{Text: g.text.String(), Finish: llm.FinishStop}
	if g.usage != nil {
		res.Usage = llm.Usage{InputTokens: g.usage.Prompt, OutputTokens: g.usage.Completion}
	}
	if t.projection != nil && t.cfg.Schema == ForcedTool && len(g.calls) > 0 && g.calls[0].name == provider.ForcedTool {
		if len(g.calls) > 1 {
			return nil, provider.Errorf(llm.Malformed, "the model replied and called %d tools at once", len(g.calls)-1)
		}
		args, err := provider.Arguments(provider.ForcedTool, g.calls[0].arguments.String())
		if err != nil {
			return nil, err
		}
		res.Text = provider.Shaped(t.projection, string(args))
		return res, nil
	}
	for _, c := range g.calls {
		tc, err := t.tools.Call(c.id, c.name, c.arguments.String())
		if err != nil {
			return nil, err
		}
		res.Calls = append(res.Calls, tc)
	}
	if len(res.Calls) > 0 {
		res.Finish = llm.FinishTools
		if err := provider.NameCalls(res.Calls); err != nil {
			return nil, err
		}
		return res, nil
	}
	if t.projection != nil {
		res.Text = provider.Shaped(t.projection, res.Text)
	}
	return res, nil
}

// finished says whether the reply is whole.
func finished(g *gathered) error {
	switch g.finish {
	case "stop":
		return nil
	case "tool_calls":
		if len(g.calls) == 0 {
			return provider.Errorf(llm.Malformed, "the reply ends with tool calls and has none")
		}
		return nil
	case "length":
		return provider.Errorf(llm.Truncated, "the reply reached the token limit")
	case "content_filter":
		return provider.Errorf(llm.Filtered, "the server cut the reply")
	case "":
		return provider.Errorf(llm.Truncated, "the reply does not say how it ended")
	}
	return provider.Errorf(llm.Malformed, "the reply ended in an unknown way: %s", provider.Clean(g.finish))
}
