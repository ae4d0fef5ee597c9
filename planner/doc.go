// Package planner decides what is to be done for a request: a plan, written by
// a model, checked without one.
//
// It guarantees that only a plan that validated can be executed ([Checked]),
// that validation is deterministic, reports all problems at once and never
// panics, and that [LLMPlanner] shows a model no text that a third-party app
// wrote, except, to a question about that app alone, its own description. It
// does not guarantee that a plan is what the user meant: consent to the plan
// does that.
//
//	p, err := planner.New(planner.Config{LLM: model})
//	…
//	plan, err := p.Plan(ctx, planner.Input{Query: query, Catalogue: catalogue})
//	…
//	checked, problems := plan.Validate(catalogue, planner.ValidateInput{})
//	if len(problems) > 0 {
//		… // nothing runs
//	}
//	for _, id := range checked.Order() { … }
//
// # Trust
//
// Trusted: the user's words, the embedding program's own texts. Not trusted:
// whatever a model wrote (it is decoded and validated), and everything in a
// manifest that is not vouched for (of which only names that are names, types,
// and short enum values without spaces are ever shown). Values that apps
// returned are never seen here.
//
// # Source
//
// Paper §IV-A2 (the hub's planner), §V (case studies 1 and 4); ACE (NDSS
// 2026), the planner attack.
package planner
