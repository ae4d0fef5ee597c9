package llmtest

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/isolategpt/isolategpt/llm"
)

// GullibleConfig is what a [Gullible] can do.
type GullibleConfig struct {
	// Skills are the kinds of request that it can answer honestly. Of two
	// requests in one text the later counts, of two in one line the earlier
	// skill's.
	Skills []Skill
	// Rules are orders that it understands beside [Grammar].
	Rules []Rule
}

// Gullible is a deterministic model that obeys every [Directive] that it finds
// anywhere in its context, the last the most strongly, and otherwise does what
// the user asked as its skills say. It is an upper bound on prompt injection:
// no guardrail of a model is left, so whatever is still prevented, the
// architecture prevents.
//
// It looks at the request alone: messages, tools and schema. It does not know
// which system calls it, and it keeps nothing between calls, so that whatever
// differs between two systems comes from what each put in front of it. Its
// English is that of the grammar and no more: that an order in other words
// leaves it cold proves nothing.
//
// It is safe for concurrent use.
type Gullible struct {
	skills []Skill
	rules  []Rule
}

// NewGullible makes a gullible model.
func NewGullible(cfg GullibleConfig) *Gullible {
	return &Gullible{skills: slices.Clone(cfg.Skills), rules: slices.Clone(cfg.Rules)}
}

// Capabilities says that it calls tools and keeps to schemas.
func (g *Gullible) Capabilities() llm.Capabilities {
	return llm.Capabilities{Tools: true, Schema: true}
}

// Generate answers req: with a plan if the schema is a plan's, with the next
// call if there are tools and something left to do, and else with text, or with
// a value that fits the schema.
func (g *Gullible) Generate(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	s := g.read(req)
	if isPlan(req.Schema) {
		return reply(s, string(s.plan(req.Schema))), nil
	}
	if call, ok := s.next(); ok {
		return &llm.Response{Calls: []llm.ToolCall{call}, Finish: llm.FinishTools, Usage: s.usage(string(call.Arguments))}, nil
	}
	if finish, ok := s.finisher(); ok {
		call := llm.ToolCall{ID: s.callID(), Name: finish.Name, Arguments: s.fill(finish.Parameters)}
		return &llm.Response{Calls: []llm.ToolCall{call}, Finish: llm.FinishTools, Usage: s.usage(string(call.Arguments))}, nil
	}
	if len(req.Schema) > 0 {
		return reply(s, string(s.fill(req.Schema))), nil
	}
	return reply(s, s.say()), nil
}

func reply(s *situation, text string) *llm.Response {
	return &llm.Response{Text: text, Finish: llm.FinishStop, Usage: s.usage(text)}
}

// usage counts four bytes of what was read and written as a token.
func (s *situation) usage(out string) llm.Usage {
	return llm.Usage{InputTokens: s.size/4 + 1, OutputTokens: len(out)/4 + 1}
}

func mustJSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic("llmtest: " + err.Error()) // only strings, numbers and maps of them come here
	}
	return b
}
