package spoke

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/memory"
)

// How often a model that answers with something else than it was asked for is
// asked again, one time after another.
const maxRepairs = 3

// newAgent is the agent of a spoke, or one that fails where there is no model.
func newAgent(s Spec, m isc.Manifest) agent {
	if s.LLM == nil {
		return noAgent{}
	}
	return &modelAgent{model: s.LLM, view: s.Memory, manifest: m}
}

type noAgent struct{}

var errNoModel = errors.New("spoke: the task needs a model and the spoke has none")

func (noAgent) delegate(context.Context, *conversation, job) (json.RawMessage, error) {
	return nil, errNoModel
}
func (noAgent) decide(context.Context, job) (json.RawMessage, error) { return nil, errNoModel }

// modelAgent plans and acts with the spoke's own model.
//
// Source: paper §IV-B2, §IV-B5.
type modelAgent struct {
	model    llm.LLM
	view     memory.View
	manifest isc.Manifest
}

func (a *modelAgent) delegate(ctx context.Context, c *conversation, j job) (json.RawMessage, error) {
	r := &agentRun{agent: a, conversation: c, job: j, native: llm.CapabilitiesOf(a.model).Tools}
	r.tools = newToolbox(a.manifest, j)
	var recalled []isc.Datum
	if !j.private {
		recalled = a.recall(ctx)
	}
	prompt, err := agentPrompt(a.manifest, r.tools, j, recalled, r.native)
	if err != nil {
		return nil, err
	}
	r.messages = prompt
	answer, err := r.loop(ctx)
	if err == nil && !j.private {
		a.remember(ctx, j.text, answer)
	}
	return answer, err
}

// agentRun is one task of the agent.
type agentRun struct {
	agent        *modelAgent
	conversation *conversation
	job          job
	tools        *toolbox
	native       bool // the model has tool calls of its own
	messages     []llm.Message
	repairs      int  // one after another
	acted        bool // something gave a result
	last         did
}

// did is the last thing that was done. Small models do it again instead of
// reading what it gave.
type did struct {
	name      string
	arguments isc.Digest
}

// loop takes turns until there is an answer or a bound is reached.
func (r *agentRun) loop(ctx context.Context) (json.RawMessage, error) {
	for range r.job.maxTurns {
		res, err := r.agent.model.Generate(ctx, r.request())
		if err != nil {
			return nil, modelError(ctx, err)
		}
		answer, err := r.take(ctx, res)
		switch {
		case err != nil:
			return nil, err
		case answer != nil:
			return answer, nil
		case r.repairs > maxRepairs:
			return nil, fmt.Errorf("spoke: the model gave nothing usable in %d turns", r.repairs)
		}
	}
	return nil, fmt.Errorf("%w: %d turns", ErrBudget, r.job.maxTurns)
}

func (r *agentRun) request() *llm.Request {
	req := &llm.Request{Messages: r.messages, Purpose: "agent"}
	if r.native {
		req.Tools = r.tools.offered()
	} else {
		req.Schema = r.tools.actionSchema()
	}
	return req
}

// take acts on one reply. It gives the answer when there is one.
func (r *agentRun) take(ctx context.Context, res *llm.Response) (json.RawMessage, error) {
	r.messages = append(r.messages, llm.Message{Role: llm.Assistant, Text: res.Text, Calls: res.Calls})
	if r.native && len(res.Calls) > 0 {
		return r.takeCalls(ctx, res.Calls)
	}
	if r.native {
		return r.takeText(res.Text)
	}
	return r.takeAction(ctx, res.Text)
}

// takeCalls runs native tool calls in order, up to a finish. Calls of others
// that stand together are asked for together.
func (r *agentRun) takeCalls(ctx context.Context, calls []llm.ToolCall) (json.RawMessage, error) {
	for len(calls) > 0 {
		if n := r.together(calls); n > 1 {
			if err := r.useTogether(ctx, calls[:n]); err != nil {
				return nil, err
			}
			calls = calls[n:]
			continue
		}
		answer, result, err := r.act(ctx, calls[0].Name, calls[0].Arguments)
		if err != nil || answer != nil {
			return answer, err
		}
		r.hear(calls[0], result)
		calls = calls[1:]
	}
	return nil, nil
}

func (r *agentRun) hear(call llm.ToolCall, result string) {
	r.messages = append(r.messages, llm.Message{Role: llm.ToolResult, CallID: call.ID, Text: result})
}

// takeText takes the last words of a model with native tools as the answer.
func (r *agentRun) takeText(text string) (json.RawMessage, error) {
	if answer, ok := fitText(r.job.answer, text); ok {
		return answer, nil
	}
	r.repair(&actionError{reason: answerMisfit})
	return nil, nil
}

// takeAction reads one action out of a reply in text.
func (r *agentRun) takeAction(ctx context.Context, text string) (json.RawMessage, error) {
	a, problem := readAction(text)
	if problem != nil {
		if answer, ok := r.bareAnswer(text); ok {
			return answer, nil
		}
		r.repair(problem)
		return nil, nil
	}
	answer, result, err := r.act(ctx, a.name, a.arguments)
	if err != nil || answer != nil {
		return answer, err
	}
	r.say(resultMessage(a.name, result))
	return nil, nil
}

// bareAnswer takes a reply that is the answer without ceremony, once something
// was done, or where there is nothing to do but to write. Before that it is more
// likely a small model's guess.
func (r *agentRun) bareAnswer(text string) (json.RawMessage, bool) {
	if r.tools.canAct && !r.acted {
		return nil, false
	}
	if raw, err := llm.Extract(text); err == nil {
		if answer, ok := fit(r.job.answer, raw); ok {
			return answer, true
		}
	}
	if r.tools.canAct {
		return nil, false
	}
	return fitWords(r.job.answer, text)
}

// repair asks again, with what was wrong.
func (r *agentRun) repair(problem *actionError) {
	r.repairs++
	r.say(problem.ask())
}

func (r *agentRun) say(text string) {
	r.messages = append(r.messages, llm.Message{Role: llm.User, Text: text})
}

// act does one thing the model asked for. Result is what to tell the model;
// err ends the task.
func (r *agentRun) act(ctx context.Context, name string, arguments json.RawMessage) (answer json.RawMessage, result string, err error) {
	t, ok := r.tools.find(name)
	if !ok {
		r.repairs++
		return nil, failure((&actionError{reason: unknownAction}).Error()), nil
	}
	if t.kind == finishTool {
		answer, ok := fitArguments(r.job.answer, arguments)
		if !ok {
			r.repairs++
			return nil, failure((&actionError{reason: answerMisfit}).Error()), nil
		}
		return answer, "", nil
	}
	now := did{name, isc.DigestOf(arguments)}
	if now == r.last {
		r.repairs++
		return nil, failure((&actionError{reason: repeated}).Error()), nil
	}
	r.last = now
	result, err = r.do(ctx, t, arguments)
	return nil, result, err
}

// do does what changes or reads something.
func (r *agentRun) do(ctx context.Context, t tool, arguments json.RawMessage) (result string, err error) {
	var body json.RawMessage
	switch t.kind {
	case ownTool:
		body, err = r.conversation.own(ctx, t.functionality, arguments)
	case otherTool:
		body, err = r.conversation.Use(ctx, t.functionality.Name, arguments)
	case needTool:
		body, err = r.need(ctx, arguments)
	}
	return r.outcome(ctx, body, err)
}

// outcome is what the model is told of what was done, or the error that ends
// the task.
func (r *agentRun) outcome(ctx context.Context, body json.RawMessage, err error) (string, error) {
	if err != nil && r.ends(ctx, err) {
		return "", err
	}
	if err != nil {
		return failure(told(err)), nil
	}
	r.repairs, r.acted = 0, true
	return success(body), nil
}

// ends tells what ends the task from what the model may go on after: an app's
// own error and a refusal are ordinary results.
func (r *agentRun) ends(ctx context.Context, err error) bool {
	return ctx.Err() != nil || errors.Is(err, ErrProtocol) || errors.Is(err, ErrBudget) || r.conversation.isBroken()
}

func (r *agentRun) need(ctx context.Context, arguments json.RawMessage) (json.RawMessage, error) {
	fields, err := readNeed(arguments)
	if err != nil {
		return nil, err
	}
	values, err := r.conversation.Need(ctx, fields...)
	if err != nil {
		return nil, err
	}
	if len(values) == 0 {
		return nil, ErrMissing
	}
	return json.Marshal(values)
}

// modelError keeps the budget apart from every other failure of a model.
func modelError(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case llm.KindOf(err) == llm.OverBudget:
		return fmt.Errorf("%w: %w", ErrBudget, err)
	default:
		return fmt.Errorf("spoke: model: %w", err)
	}
}
