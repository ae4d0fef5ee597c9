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
// Each app runs in a confined process of its own, where the machine gives that;
// elsewhere both run in process, which keeps their contexts apart and not their
// code. The program says which; see package spoke.
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

func main() {
	log.SetFlags(0)
	apps, err := install()
	if err != nil {
		log.Fatal("quickstart: ", err)
	}
	spoke.Main(apps...) // in the process of a spoke it serves the app and does not return
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
	ctx := context.Background()
	launcher, close := strongest(ctx)
	defer close()
	answer, err := ask(ctx, hub.Config{LLM: model, Apps: apps, Consent: terminal.New(os.Stdin, os.Stderr), Launcher: launcher}, request)
	if err != nil {
		log.Fatal("quickstart: ", err)
	}
	fmt.Println(answer.Text)
}

// strongest is the strongest isolation that this machine gives to apps that are
// part of the program, and says what it is.
func strongest(ctx context.Context) (launcher spoke.Launcher, close func()) {
	process := spoke.Process(spoke.ProcessConfig{})
	isolation, err := process.Probe(ctx)
	if missing := isc.FullIsolation.Without(isolation.Has); err == nil && missing != 0 {
		err = &spoke.UnmetError{Isolation: isolation, Missing: missing}
	}
	if err != nil {
		_ = process.Close()
		fmt.Fprintln(os.Stderr, "isolation: in-process, for contexts alone; a process cannot be confined here:", err)
		return spoke.InProcess(), func() {}
	}
	fmt.Fprintln(os.Stderr, "isolation:", isolation)
	return process, func() { _ = process.Close() }
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

// install makes the two apps.
func install() ([]spoke.App, error) {
	sky, err := spoke.New(isc.Manifest{ID: "sky", Name: "Sky"}, spoke.Func("weather.now", now, spoke.Reads()))
	if err != nil {
		return nil, err
	}
	pad, err := spoke.New(isc.Manifest{ID: "pad", Name: "Pad"}, spoke.Func("note.save", save, spoke.Writes()))
	return []spoke.App{sky, pad}, err
}

// ask resolves one request.
func ask(ctx context.Context, cfg hub.Config, request string) (hub.Answer, error) {
	h, err := hub.New(cfg)
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
