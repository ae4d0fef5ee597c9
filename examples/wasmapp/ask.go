package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/isolategpt/isolategpt/hub"
	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/permission"
	"github.com/isolategpt/isolategpt/spoke"
)

// canned is what a model writes for the one request. The hub checks it like any
// other plan.
var canned = llm.Func(func(context.Context, *llm.Request) (*llm.Response, error) {
	return &llm.Response{Finish: llm.FinishStop, Text: `{
		"steps": [
			{"id": "s1", "do": "call", "functionality": "words.count", "args": {"text": "the quick brown fox jumps over the lazy dog"}},
			{"id": "s2", "do": "call", "functionality": "place.look", "args": {}}
		],
		"answer": {"template": ["It has ", {"step": "s1", "pointer": "/words"}, " words. The app saw ", {"step": "s2", "pointer": "/files"},
			" files and ", {"step": "s2", "pointer": "/variables"}, " variables."]}
	}`}, nil
})

const request = `How many words has "the quick brown fox jumps over the lazy dog"? And what do you see?`

// ask resolves the request, and says in what isolation the app ran.
func ask(ctx context.Context, p installed, person permission.ConsentPrompter) (string, isc.Isolation, error) {
	h, err := hub.New(hub.Config{LLM: canned, Apps: []spoke.App{p.app}, Consent: person, Launcher: p.launcher})
	if err != nil {
		return "", isc.Isolation{}, err
	}
	defer h.Close()
	session, err := h.Session(hub.SessionConfig{User: "me"})
	if err != nil {
		return "", isc.Isolation{}, err
	}
	var isolation isc.Isolation
	launched := false
	for event, err := range session.Run(ctx, request) {
		if err != nil {
			return "", isolation, err
		}
		if l, ok := event.(hub.Launched); ok {
			launched, isolation = true, l.Isolation
		}
		if a, ok := event.(hub.Answered); ok {
			return a.Answer.Text, isolation, complete(a.Answer, launched)
		}
	}
	return "", isolation, errors.New("no answer")
}

// complete is an error for an answer that is none, or only a part.
func complete(a hub.Answer, launched bool) error {
	if a.Refused {
		return fmt.Errorf("refused: %s", a.Text)
	}
	for _, step := range a.Steps {
		if step.Status != isc.StatusDone {
			return fmt.Errorf("step %s: %s: %s", step.Step, step.Status, step.Reason)
		}
	}
	if !launched || len(a.Missing) > 0 {
		return errors.New("the answer is not the app's")
	}
	return nil
}
