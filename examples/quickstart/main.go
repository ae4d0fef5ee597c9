// Quickstart is the smallest whole program: two apps that cannot reach each
// other, one request over both, and a person who is asked before anything
// changes.
//
//	go run ./examples/quickstart
//	go run ./examples/quickstart -llm qwen2.5 -base-url http://127.0.0.1:11434/v1 "How warm is it in Rome?"
//
// Without -llm it needs no key and no network: one canned plan stands in for a
// model.
//
// # Trust
//
// Both apps run in process, which keeps their contexts apart and not their
// code; see package spoke.
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
	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/permission"
	"github.com/isolategpt/isolategpt/permission/terminal"
	"github.com/isolategpt/isolategpt/spoke"
)

func main() {
	log.SetFlags(0)
	name := flag.String("llm", "", "the `model`; without one a canned plan stands in for it")
	baseURL := flag.String("base-url", "https://api.openai.com/v1", "an OpenAI-compatible `server`; its key is in OPENAI_API_KEY")
	flag.Parse()
	request := "How warm is it in Oslo? Note it down."
	if flag.NArg() > 0 {
		request = flag.Arg(0)
	}
	model, err := open(*name, *baseURL)
	if err != nil {
		log.Fatal("quickstart: ", err)
	}
	answer, err := ask(context.Background(), model, terminal.New(os.Stdin, os.Stderr), request)
	if err != nil {
		log.Fatal("quickstart: ", err)
	}
	fmt.Println(answer.Text)
}

type place struct {
	City string `json:"city" isolate:"role=payload"`
}

type weather struct {
	Degrees int `json:"degrees" isolate:"min=-90,max=60"`
}

type note struct {
	Number int `json:"number" isolate:"min=1,max=1000000"`
}

func now(_ context.Context, in place) (weather, error) {
	return weather{Degrees: map[string]int{"Oslo": 4, "Rome": 17}[in.City]}, nil
}

func save(_ context.Context, in weather) (note, error) { return note{Number: 1}, nil }

// ask resolves one request over both apps.
func ask(ctx context.Context, model llm.LLM, person permission.ConsentPrompter, request string) (hub.Answer, error) {
	sky, err := spoke.New(isc.Manifest{ID: "sky", Name: "Sky"}, spoke.Func("weather.now", now, spoke.Reads()))
	if err != nil {
		return hub.Answer{}, err
	}
	pad, err := spoke.New(isc.Manifest{ID: "pad", Name: "Pad"}, spoke.Func("note.save", save, spoke.Writes()))
	if err != nil {
		return hub.Answer{}, err
	}
	h, err := hub.New(hub.Config{LLM: model, Apps: []spoke.App{sky, pad}, Consent: person, Launcher: spoke.InProcess()})
	if err != nil {
		return hub.Answer{}, err
	}
	defer h.Close()
	session, err := h.Session(hub.SessionConfig{User: "me"})
	if err != nil {
		return hub.Answer{}, err
	}
	return session.Ask(ctx, request)
}
