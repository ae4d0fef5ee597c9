// Quickstart is the smallest whole program: two apps that cannot reach each
// other, one request over both, and a person who is asked before anything
// changes.
//
//	go run ./examples/quickstart
//	go run ./examples/quickstart -llm qwen2.5 -base-url http://127.0.0.1:11434/v1 "Is it cold in Oslo? Note it."
//
// # Source
//
// Paper §IV.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"

	"github.com/isolategpt/isolategpt/hub"
	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/permission/terminal"
	"github.com/isolategpt/isolategpt/spoke"
)

type place struct {
	City string `json:"city" isolate:"role=payload"`
}

type weather struct {
	Degrees int `json:"degrees" isolate:"min=-90,max=60"`
}

type saved struct {
	OK bool `json:"ok"`
}

func now(_ context.Context, p place) (weather, error) { return weather{len(p.City)}, nil }

func save(_ context.Context, w weather) (saved, error) { return saved{true}, nil }

func main() {
	log.SetFlags(0)
	name := flag.String("llm", "", "the `model`; without one a single canned plan stands in for it")
	baseURL := flag.String("base-url", "https://api.openai.com/v1", "an OpenAI-compatible `server`; its key is in OPENAI_API_KEY")
	flag.Parse()
	request := "How warm is it in Oslo? Note it down."
	if flag.NArg() > 0 {
		request = flag.Arg(0)
	}
	if err := run(context.Background(), *name, *baseURL, request); err != nil {
		log.Fatal("quickstart: ", err)
	}
}

func run(ctx context.Context, name, baseURL, request string) error {
	model, err := open(name, baseURL)
	if err != nil {
		return err
	}
	sky, err := spoke.New(isc.Manifest{ID: "sky", Name: "Sky"}, spoke.Func("weather.now", now, spoke.Reads()))
	if err != nil {
		return err
	}
	notes, err := spoke.New(isc.Manifest{ID: "notes", Name: "Notes"}, spoke.Func("note.save", save, spoke.Writes()))
	if err != nil {
		return err
	}
	h, err := hub.New(hub.Config{
		LLM:      model,
		Apps:     []spoke.App{sky, notes},
		Launcher: spoke.InProcess(), // isolates contexts; Process isolates code
		Consent:  terminal.New(os.Stdin, os.Stderr),
	})
	if err != nil {
		return err
	}
	defer h.Close()
	session, err := h.Session(hub.SessionConfig{User: "me"})
	if err != nil {
		return err
	}
	answer, err := session.Ask(ctx, request)
	if err != nil {
		return err
	}
	fmt.Println(answer.Text)
	return nil
}
