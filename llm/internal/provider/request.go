package provider

import (
	"encoding/json"
	"errors"

	"github.com/isolategpt/isolategpt/llm"
)

// CheckRequest says what keeps a request from being sent.
func CheckRequest(req *llm.Request, tools bool) error {
	if req == nil || len(req.Messages) == 0 {
		return Errorf(llm.BadRequest, "the request has no messages")
	}
	if len(req.Tools) > 0 && !tools {
		return Errorf(llm.BadRequest, "the request offers tools and the model is not known to call any: ask for an action under a schema")
	}
	if req.MaxTokens < 0 {
		return Errorf(llm.BadRequest, "Request.MaxTokens is negative")
	}
	seen := map[string]bool{}
	for _, t := range req.Tools {
		if t.Name == "" || seen[t.Name] {
			return Errorf(llm.BadRequest, "a tool has no name, or two have the name %.64q", t.Name)
		}
		seen[t.Name] = true
		if len(t.Parameters) > 0 && !json.Valid(t.Parameters) {
			return Errorf(llm.BadRequest, "the parameters of tool %.64q are not JSON", t.Name)
		}
	}
	for i, m := range req.Messages {
		if err := checkMessage(m, tools); err != nil {
			return Errorf(llm.BadRequest, "message %d: %w", i, err)
		}
	}
	return nil
}

func checkMessage(m llm.Message, tools bool) error {
	switch {
	case m.Role < llm.System || m.Role > llm.ToolResult:
		return errors.New("the role is invalid")
	case len(m.Calls) > 0 && m.Role != llm.Assistant:
		return errors.New("only an assistant calls tools")
	case m.Role == llm.ToolResult && m.CallID == "":
		return errors.New("a tool result names no call")
	case (len(m.Calls) > 0 || m.Role == llm.ToolResult) && !tools:
		return errors.New("the history has tool calls and the model is not known to make any")
	}
	for _, c := range m.Calls {
		if !json.Valid(c.Arguments) {
			return errors.New("the arguments of a tool call are not JSON")
		}
	}
	return nil
}
