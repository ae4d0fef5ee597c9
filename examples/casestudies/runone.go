package main

import (
	"context"
	"encoding/json"
	"time"

	"github.com/isolategpt/isolategpt/examples/casestudies/cases"
	"github.com/isolategpt/isolategpt/examples/casestudies/vanilla"
	"github.com/isolategpt/isolategpt/llm"
)

// system answers requests and fills in a report.
type system func(ctx context.Context, model llm.LLM, w *cases.World, requests []string, r *report) error

// caseTime bounds one case on one system, whatever the model's server does.
const caseTime = 10 * time.Minute

// runOne runs a case on a system, with fresh apps and a fresh count of model
// calls. A system that fails has refused, and says so in plain words.
func (o *options) runOne(ctx context.Context, c cases.Case, name string) (*report, error) {
	model, err := o.model.open()
	if err != nil {
		return nil, err
	}
	budget := llm.NewBudget(llm.BudgetConfig{MaxCalls: llm.NoLimit, MaxTokens: llm.NoLimit})
	w, r := c.World(), newReport(c, name)
	var run system = o.isolated
	if name == vanillaSystem {
		run = o.vanilla
	}
	bounded, cancel := context.WithTimeout(ctx, caseTime)
	defer cancel()
	if err := run(bounded, budget.Wrap(model), w, c.Requests, r); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		r.Answer = "I could not do this: " + err.Error()
	}
	r.LLMCalls, _ = budget.Used()
	r.judge(w)
	return r, nil
}

// vanilla runs the requests in one conversation.
func (o *options) vanilla(ctx context.Context, model llm.LLM, w *cases.World, requests []string, r *report) error {
	agent, err := vanilla.New(vanilla.Config{LLM: model, Apps: w.Apps})
	if err != nil {
		return err
	}
	for _, request := range requests {
		if r.Answer, err = agent.Ask(ctx, request); err != nil {
			return err
		}
	}
	for _, app := range w.Apps {
		m := app.Manifest()
		if told, ok := cases.Told(r.Answer, m.Name); ok {
			r.Facts = append(r.Facts, fact{App: string(m.ID), Value: json.RawMessage(told)})
		}
	}
	return nil
}
