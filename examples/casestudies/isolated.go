package main

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/isolategpt/isolategpt/examples/casestudies/cases"
	"github.com/isolategpt/isolategpt/hub"
	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/memory"
	"github.com/isolategpt/isolategpt/permission"
)

// isolated runs the requests on a hub of their own and reports what it says.
func (o *options) isolated(ctx context.Context, model llm.LLM, w *cases.World, requests []string, r *report) (err error) {
	h, err := hub.New(hub.Config{
		LLM: model, Apps: w.Apps, Known: w.Known, Launcher: o.spokes.launcher, Memory: memory.InMemory(),
		Consent: o.prompter(), Policy: permission.Balanced(), Asker: hub.AskerFunc(func(ctx context.Context, q hub.Question) (json.RawMessage, error) {
			given, err := o.answer(ctx, q)
			r.Questions = append(r.Questions, question{App: string(q.App.ID), Text: q.Text, Given: err == nil})
			return given, err
		}),
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	s, err := h.Session(hub.SessionConfig{User: "ann"})
	if err != nil {
		return err
	}
	for _, request := range requests {
		r.Plan, r.Facts, r.Missing = []string{}, []fact{}, []string{}
		for event, err := range s.Run(ctx, request) {
			if err != nil {
				return err
			}
			if p, ok := event.(hub.Progress); ok && w.Progress(p.App, p.Text) {
				continue
			}
			if l, ok := event.(hub.Launched); ok {
				r.Isolation = l.Isolation.Name
			}
			r.note(event)
		}
	}
	return nil
}

// note takes from an event what the report shows.
func (r *report) note(event hub.Event) {
	switch e := event.(type) {
	case hub.Planned:
		r.Plan = planLines(e.Plan)
	case hub.Decided:
		if shown := e.Verdict.Request; shown != nil {
			r.Dialogs = append(r.Dialogs, dialogOf(*shown, e.Verdict.Decision))
		}
	case hub.Answered:
		r.Answer = e.Answer.Text
		r.Missing = append(r.Missing, e.Answer.Missing...)
		for _, f := range e.Answer.Facts {
			r.Facts = append(r.Facts, fact{App: string(f.App), Functionality: string(f.Functionality), Pointer: f.Pointer, Value: f.Value})
		}
	default: // the report has no place for it
	}
}

func dialogOf(q permission.Request, d permission.Decision) dialog {
	out := dialog{
		Kind: q.Kind.String(), From: string(q.From.ID), To: string(q.To.ID), Functionality: string(q.Functionality),
		Warnings: []string{}, Decision: d.String(),
	}
	for _, f := range q.Assessment {
		out.Warnings = append(out.Warnings, string(f.Code))
	}
	return out
}
