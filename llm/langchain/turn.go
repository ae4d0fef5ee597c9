package langchain

import (
	"encoding/json"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/llm/internal/provider"
)

// turn is one request in langchaingo's terms, and the way back.
type turn struct {
	cfg        *Config
	req        *llm.Request
	messages   []llms.MessageContent
	tools      *provider.Toolset
	projection *llm.Projection // of the schema, or nil
}

func (m *Model) turn(req *llm.Request) (*turn, error) {
	if err := provider.CheckRequest(req, m.cfg.Tools); err != nil {
		return nil, err
	}
	t := &turn{cfg: &m.cfg, req: req}
	var err error
	if t.tools, err = provider.NewToolset(req, &m.projector); err != nil {
		return nil, err
	}
	messages := req.Messages
	if len(req.Schema) > 0 {
		if t.projection, err = m.projector.Project(req.Schema); err != nil {
			return nil, provider.Errorf(llm.BadRequest, "Request.Schema: %w", err)
		}
		if !m.cfg.Tools {
			messages = provider.InWords(messages, t.projection)
		}
	}
	for _, msg := range messages {
		t.messages = append(t.messages, t.message(msg))
	}
	return t, nil
}

var roles = map[llm.Role]llms.ChatMessageType{
	llm.System: llms.ChatMessageTypeSystem, llm.User: llms.ChatMessageTypeHuman,
	llm.Assistant: llms.ChatMessageTypeAI, llm.ToolResult: llms.ChatMessageTypeTool,
}

// message has one part for a tool result: two of them in a message are an error
// in langchaingo.
func (t *turn) message(m llm.Message) llms.MessageContent {
	c := llms.MessageContent{Role: roles[m.Role]}
	if m.Role == llm.ToolResult {
		c.Parts = []llms.ContentPart{llms.ToolCallResponse{ToolCallID: m.CallID, Name: t.tools.Sent(t.toolOf(m.CallID)), Content: m.Text}}
		return c
	}
	if m.Text != "" || len(m.Calls) == 0 {
		c.Parts = append(c.Parts, llms.TextContent{Text: m.Text})
	}
	for _, call := range m.Calls {
		c.Parts = append(c.Parts, llms.ToolCall{
			ID: call.ID, Type: "function",
			FunctionCall: &llms.FunctionCall{Name: t.tools.Sent(call.Name), Arguments: string(call.Arguments)},
		})
	}
	return c
}

// toolOf is the tool that a call of the history called: some providers want
// its name beside the result.
func (t *turn) toolOf(callID string) string {
	for _, m := range t.req.Messages {
		for _, c := range m.Calls {
			if c.ID == callID {
				return c.Name
			}
		}
	}
	return ""
}

func (t *turn) options() []llms.CallOption {
	options := append([]llms.CallOption(nil), t.cfg.Options...)
	if t.req.Temperature != nil {
		options = append(options, llms.WithTemperature(*t.req.Temperature))
	}
	limit := t.req.MaxTokens
	if limit == 0 {
		limit = t.cfg.MaxTokens
	}
	if limit > 0 {
		options = append(options, llms.WithMaxTokens(limit))
	}
	var tools []llms.Tool
	for _, tool := range t.tools.Tools {
		tools = append(tools, function(tool.Name, tool.Description, tool.Parameters))
	}
	if t.forced() {
		// A schema can be given per client only, and not all of it: a tool that has
		// to be called takes any.
		tools = append(tools, function(provider.ForcedTool, "Gives the reply. Call it once, with the whole reply.", t.projection.Schema))
		var choice any = llms.ToolChoice{Type: "function", Function: &llms.FunctionReference{Name: provider.ForcedTool}}
		if len(tools) > 1 {
			choice = "required"
		}
		options = append(options, llms.WithToolChoice(choice))
	}
	if len(tools) > 0 {
		options = append(options, llms.WithTools(tools))
	}
	return options
}

func function(name, description string, parameters json.RawMessage) llms.Tool {
	var schema map[string]any // what all providers take; a projection is an object
	_ = json.Unmarshal(parameters, &schema)
	return llms.Tool{Type: "function", Function: &llms.FunctionDefinition{Name: name, Description: description, Parameters: schema}}
}

func (t *turn) forced() bool { return t.projection != nil && t.cfg.Tools }

// response turns a whole reply into ours. Some providers make a choice of each
// block of one reply.
func (t *turn) response(choices []*llms.ContentChoice) (*llm.Response, error) {
	res := &llm.Response{Finish: llm.FinishStop}
	var text strings.Builder
	var calls []*llms.FunctionCall
	var ids []string
	for _, c := range choices {
		text.WriteString(c.Content)
		for _, tc := range c.ToolCalls {
			if tc.FunctionCall == nil {
				return nil, provider.Errorf(llm.Malformed, "a tool call has no function")
			}
			calls, ids = append(calls, tc.FunctionCall), append(ids, tc.ID)
		}
		if len(c.ToolCalls) == 0 && c.FuncCall != nil {
			return nil, provider.Errorf(llm.Malformed, "the reply has a function_call, which was replaced by tool_calls")
		}
	}
	res.Text, res.Usage = text.String(), usage(choices[0].GenerationInfo)
	if len(calls) > 0 && !t.cfg.Tools {
		return nil, provider.Errorf(llm.Malformed, "the reply calls a tool and none was offered")
	}
	if t.forced() && len(calls) > 0 && calls[0].Name == provider.ForcedTool {
		return t.reply(res, calls)
	}
	for i, c := range calls {
		call, err := t.tools.Call(ids[i], c.Name, c.Arguments)
		if err != nil {
			return nil, err
		}
		res.Calls = append(res.Calls, call)
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

// reply takes the reply out of the call that carries it.
func (t *turn) reply(res *llm.Response, calls []*llms.FunctionCall) (*llm.Response, error) {
	if len(calls) > 1 {
		return nil, provider.Errorf(llm.Malformed, "the model replied and called %d tools at once", len(calls)-1)
	}
	args, err := provider.Arguments(provider.ForcedTool, calls[0].Arguments)
	if err != nil {
		return nil, err
	}
	res.Text = provider.Shaped(t.projection, string(args))
	return res, nil
}

// usage reads the counts, whose names differ by provider.
func usage(info map[string]any) llm.Usage {
	count := func(names ...string) int {
		for _, name := range names {
			switch n := info[name].(type) {
			case int:
				return n
			case int32:
				return int(n)
			case int64:
				return int(n)
			case float64:
				return int(n)
			}
		}
		return 0
	}
	return llm.Usage{
		InputTokens:  count("PromptTokens", "InputTokens", "input_tokens"),
		OutputTokens: count("CompletionTokens", "OutputTokens", "output_tokens"),
	}
}
