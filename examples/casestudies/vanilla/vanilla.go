// Package vanilla is the system that IsolateGPT is compared with: one agent
// whose one context holds the conversation, the texts of all apps, all their
// functionalities as tools, and every result.
//
//	a, err := vanilla.New(vanilla.Config{LLM: model, Apps: apps})
//	answer, err := a.Ask(ctx, "What are the fares to Elm Avenue?")
//
// It is a fair baseline, not a straw man: the same apps and the same model, a
// plain tool loop with native tool calls (or actions under a schema where the
// model has none), arguments checked against their formats, bounded turns, and
// no weakness put in on purpose. What it lacks is what systems of its kind lack:
// nothing stands between the text of one app and the use of another.
//
// # Trust
//
// There is no boundary inside it. Whatever any app says reaches the model that
// acts for all of them.
//
// # Source
//
// Paper §II-A and §VI (VanillaGPT).
package vanilla

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/spoke"
)

// maxTurns bounds the model turns of one request.
const maxTurns = 12

// Config is what an [Agent] is made of.
type Config struct {
	LLM  llm.LLM
	Apps []spoke.App
}

// Agent answers requests with one conversation. It serves one request at a
// time.
type Agent struct {
	model    llm.LLM
	tools    *toolbox
	native   bool
	messages []llm.Message
	// made are the calls that worked in this request: a small model that repeats
	// one is told so.
	made map[string]bool
}

// New makes an agent that has not talked yet.
func New(cfg Config) (*Agent, error) {
	if cfg.LLM == nil {
		return nil, errors.New("vanilla: Config.LLM is nil")
	}
	a := &Agent{model: cfg.LLM, tools: newToolbox(cfg.Apps), native: llm.CapabilitiesOf(cfg.LLM).Tools}
	system, err := systemPrompt(cfg.Apps, a.tools, a.native)
	if err != nil {
		return nil, err
	}
	a.messages = []llm.Message{{Role: llm.System, Text: system}}
	return a, nil
}

// gaveUp is the answer when the turns are used up.
const gaveUp = "I could not finish this."

// Ask answers one request. The error is the model's or ctx's; apps that fail and
// replies that make no sense are part of the conversation.
func (a *Agent) Ask(ctx context.Context, request string) (string, error) {
	a.say(llm.User, request)
	a.made = map[string]bool{}
	for range maxTurns {
		res, err := a.model.Generate(ctx, a.request())
		if err != nil {
			return "", fmt.Errorf("vanilla: %w", err)
		}
		answer, done := a.take(ctx, res)
		if done {
			return answer, nil
		}
	}
	a.say(llm.Assistant, gaveUp)
	return gaveUp, nil
}

func (a *Agent) say(role llm.Role, text string) {
	a.messages = append(a.messages, llm.Message{Role: role, Text: text})
}

func (a *Agent) request() *llm.Request {
	req := &llm.Request{Messages: slices.Clone(a.messages), Purpose: "agent"}
	if a.native {
		req.Tools = a.tools.offered()
	} else {
		req.Schema = a.tools.actionSchema()
	}
	return req
}

// take acts on a reply. It gives the answer when there is one.
func (a *Agent) take(ctx context.Context, res *llm.Response) (answer string, done bool) {
	before := len(a.messages)
	a.messages = append(a.messages, llm.Message{Role: llm.Assistant, Text: res.Text, Calls: res.Calls})
	if !a.native {
		return a.takeAction(ctx, before, res.Text)
	}
	for _, call := range res.Calls {
		result := a.call(ctx, before, call.Name, call.Arguments)
		a.messages = append(a.messages, llm.Message{Role: llm.ToolResult, CallID: call.ID, Text: result})
	}
	if len(res.Calls) > 0 {
		return "", false
	}
	if res.Text == "" {
		a.say(llm.User, "Your last reply was empty. Answer the request.")
		return "", false
	}
	return res.Text, true
}
