package hub_test

import (
	"context"
	"fmt"

	"github.com/isolategpt/isolategpt/hub"
	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/permission"
	"github.com/isolategpt/isolategpt/spoke"
)

// A request over one app, with a model that was asked beforehand.
func ExampleSession_Ask() {
	type place struct {
		City string `json:"city"`
	}
	type weather struct {
		Celsius int `json:"celsius" isolate:"min=-90,max=60"`
	}
	sky, err := spoke.New(isc.Manifest{ID: "sky", Name: "Sky"},
		spoke.Func("weather.now", func(context.Context, place) (weather, error) { return weather{Celsius: 7}, nil }, spoke.Reads()))
	if err != nil {
		fmt.Println(err)
		return
	}
	model := llm.Func(func(context.Context, *llm.Request) (*llm.Response, error) {
		return &llm.Response{Finish: llm.FinishStop, Text: `{"steps":[{"id":"s1","do":"call","functionality":"weather.now","args":{"city":"Oslo"}}],
			"answer":{"template":["It is ",{"step":"s1","pointer":"/celsius"}," degrees in Oslo."]}}`}, nil
	})
	h, err := hub.New(hub.Config{LLM: model, Apps: []spoke.App{sky}, Launcher: spoke.InProcess()})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer h.Close()
	s, err := h.Session(hub.SessionConfig{User: "me"})
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := s.Ask(context.Background(), "How warm is it in Oslo?")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer.Text)
	for _, f := range answer.Facts {
		fmt.Println(f.App, f.Functionality, f.Pointer, string(f.Value))
	}
	// Output:
	// It is 7 degrees in Oslo.
	// sky weather.now /celsius 7
}

// What happens in a run, as it happens. Nobody is there to ask, so what would
// be asked is denied.
func ExampleSession_Run() {
	type letter struct {
		To string `json:"to" isolate:"role=destination"`
	}
	type receipt struct {
		Sent bool `json:"sent"`
	}
	mail, err := spoke.New(isc.Manifest{ID: "mail", Name: "Mail"},
		spoke.Func("mail.send", func(context.Context, letter) (receipt, error) { return receipt{Sent: true}, nil }))
	if err != nil {
		fmt.Println(err)
		return
	}
	model := llm.Func(func(context.Context, *llm.Request) (*llm.Response, error) {
		return &llm.Response{Finish: llm.FinishStop, Text: `{"steps":[{"id":"s1","do":"call","functionality":"mail.send","args":{"to":"bob@example.test"}}],
			"answer":{"template":["Sent."]}}`}, nil
	})
	h, err := hub.New(hub.Config{LLM: model, Apps: []spoke.App{mail}, Launcher: spoke.InProcess()})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer h.Close()
	s, err := h.Session(hub.SessionConfig{User: "me"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for ev, err := range s.Run(context.Background(), "Write to bob@example.test.") {
		if err != nil {
			fmt.Println(err)
			return
		}
		switch ev := ev.(type) {
		case hub.Decided:
			if ev.Question.Kind == permission.Irreversible {
				fmt.Println("decided:", ev.Verdict.Decision, "by", ev.Verdict.By)
			}
		case hub.StepEnded:
			fmt.Println("step:", ev.Outcome.Functionality, ev.Outcome.Status)
		case hub.Answered:
			fmt.Println("refused:", ev.Answer.Refused)
		default: // others are of no interest here
		}
	}
	// Output:
	// decided: deny by gate
	// step: mail.send refused
	// refused: true
}
