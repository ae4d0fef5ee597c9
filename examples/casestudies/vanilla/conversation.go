package vanilla

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/spoke"
)

// conversation is what a handler gets for the hub: the one agent. It asks
// nobody, as the system it stands for does not.
type conversation struct {
	agent  *Agent
	before int
}

// Use calls the functionality of whichever app has it.
func (c *conversation) Use(ctx context.Context, name isc.FunctionalityName, body json.RawMessage) (json.RawMessage, error) {
	t, ok := c.agent.tools.serving(name)
	if !ok {
		return nil, spoke.ErrRefused
	}
	checked, err := t.functionality.Request.Check(body)
	if err != nil {
		return nil, err
	}
	return t.app.Handle(ctx, spoke.Call{Functionality: name, Body: checked, Hub: c})
}

// Need has the model fill in, from the conversation, what the app asks for.
func (c *conversation) Need(ctx context.Context, fields ...isc.DataField) (map[string]json.RawMessage, error) {
	var members, names, lines []string
	for _, f := range fields {
		name, err := json.Marshal(f.Name)
		if err != nil {
			return nil, err
		}
		members = append(members, string(name)+`:{"type":["string","null"]}`)
		names = append(names, string(name))
		lines = append(lines, fmt.Sprintf("- %s: %s", f.Name, f.Purpose))
	}
	req := &llm.Request{
		Messages: append(slices.Clone(c.agent.messages[:c.before]), llm.Message{Role: llm.User, Text: "To go on, an app needs the following about me. " +
			"Fill it in from what I said; null for what I did not say. Reply with one JSON object and nothing else.\n" + strings.Join(lines, "\n")}),
		Schema:  json.RawMessage(`{"type":"object","properties":{` + strings.Join(members, ",") + `},"required":[` + strings.Join(names, ",") + `],"additionalProperties":false}`),
		Purpose: "agent",
	}
	res, err := c.agent.model.Generate(ctx, req)
	if err != nil {
		return nil, err
	}
	raw, err := llm.Extract(res.Text)
	if err != nil {
		return nil, spoke.ErrMissing
	}
	var given map[string]json.RawMessage
	if json.Unmarshal(raw, &given) != nil {
		return nil, spoke.ErrMissing
	}
	out := map[string]json.RawMessage{}
	for _, f := range fields {
		if v, ok := given[f.Name]; ok && string(v) != "null" {
			out[f.Name] = v
		}
	}
	return out, nil
}

// Confirm lets everything through: nobody is asked.
func (*conversation) Confirm(context.Context, isc.FunctionalityName, json.RawMessage) error {
	return nil
}

// Progress shows nothing.
func (*conversation) Progress(context.Context, string) error { return nil }

// Fetch reaches no host: no app of the cases has one.
func (*conversation) Fetch(context.Context, spoke.HTTPRequest) (spoke.HTTPResponse, error) {
	return spoke.HTTPResponse{}, spoke.ErrRefused
}
