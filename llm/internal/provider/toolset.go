package provider

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/isolategpt/isolategpt/llm"
)

// maxName is the longest tool name that OpenAI takes, in bytes.
const maxName = 64

// ForcedTool is the tool that carries a reply under a schema where a server
// cannot constrain text.
const ForcedTool = "reply"

// Toolset is what is sent of a request's tools, and the way back: names that
// every server takes (letters, digits, "_", "-", at most 64), and projections
// of the parameters. It is made for one request.
type Toolset struct {
	Tools []Tool

	sent     map[string]string
	ours     map[string]string
	restores map[string]*llm.Projection // by our name
}

// Tool is a tool as it is sent.
type Tool struct {
	Name        string
	Description string
	Parameters  json.RawMessage
	Strict      bool // the parameters fit OpenAI's strict mode
}

// NewToolset makes the names and parameters of the tools of req, and names for
// the calls in its history. [ForcedTool] is kept free.
func NewToolset(req *llm.Request, p *Projector) (*Toolset, error) {
	n := &Toolset{sent: map[string]string{}, ours: map[string]string{ForcedTool: ""}, restores: map[string]*llm.Projection{}}
	for _, t := range req.Tools {
		n.add(t.Name)
		schema := t.Parameters
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`)
		}
		proj, err := p.Project(schema)
		if err != nil {
			return nil, Errorf(llm.BadRequest, "the parameters of tool %.64q: %w", t.Name, err)
		}
		n.restores[t.Name] = proj
		n.Tools = append(n.Tools, Tool{n.sent[t.Name], t.Description, proj.Schema, proj.Strict})
	}
	for _, m := range req.Messages {
		for _, c := range m.Calls {
			n.add(c.Name)
		}
	}
	return n, nil
}

func (n *Toolset) add(name string) {
	if _, ok := n.sent[name]; ok {
		return
	}
	base := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, name)
	if base == "" {
		base = "tool"
	}
	base = base[:min(len(base), maxName)]
	sent := base
	for i := 2; ; i++ {
		if _, taken := n.ours[sent]; !taken {
			break
		}
		suffix := fmt.Sprintf("_%d", i)
		sent = base[:min(len(base), maxName-len(suffix))] + suffix
	}
	n.sent[name], n.ours[sent] = sent, name
}

// Sent is the name under which a tool is known to the server.
func (n *Toolset) Sent(name string) string { return n.sent[name] }

// Call is a tool call as the server wrote it, in our terms. Arguments that are
// not one JSON value make the reply [llm.Malformed]. A name that was never sent
// stays as it is: the agent answers it with "no such tool".
func (n *Toolset) Call(id, sent, arguments string) (llm.ToolCall, error) {
	name := n.ours[sent]
	if name == "" {
		name = sent
	}
	args, err := Arguments(name, arguments)
	if err != nil {
		return llm.ToolCall{}, err
	}
	if p := n.restores[name]; p != nil {
		if args, err = p.Restore(args); err != nil {
			return llm.ToolCall{}, Errorf(llm.Malformed, "the arguments of a call of %.64q: %w", name, err)
		}
	}
	return llm.ToolCall{ID: id, Name: name, Arguments: args}, nil
}

// NameCalls gives an id to calls that the server gave none, and refuses a call
// without a name and ids that are used twice.
func NameCalls(calls []llm.ToolCall) error {
	seen := map[string]bool{}
	for i := range calls {
		if calls[i].Name == "" {
			return Errorf(llm.Malformed, "tool call %d has no name", i)
		}
		if calls[i].ID == "" {
			calls[i].ID = fmt.Sprintf("call_%d", i)
		}
		if seen[calls[i].ID] {
			return Errorf(llm.Malformed, "two tool calls have one id")
		}
		seen[calls[i].ID] = true
	}
	return nil
}
