package isolategpt_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/tmc/langchaingo/llms/anthropic"

	"github.com/isolategpt/isolategpt/hub"
	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/llm/langchain"
	"github.com/isolategpt/isolategpt/llm/openai"
	"github.com/isolategpt/isolategpt/memory"
	"github.com/isolategpt/isolategpt/permission"
	"github.com/isolategpt/isolategpt/permission/terminal"
	"github.com/isolategpt/isolategpt/spoke"
	"github.com/isolategpt/isolategpt/spoke/egress"
)

type trip struct {
	From string `json:"from"`
	To   string `json:"to" isolate:"role=destination"`
}

type fare struct {
	Fare json.Number `json:"fare" isolate:"min=0,max=1000"`
}

type ticket struct {
	Number int `json:"number" isolate:"min=1,max=1000000"`
}

func price(_ context.Context, t trip) (fare, error) {
	return fare{Fare: json.Number(fmt.Sprintf("%.2f", 14+1.8*float64(len(t.From)+len(t.To))))}, nil
}

func book(context.Context, fare) (ticket, error) { return ticket{Number: 7}, nil }

// planned stands in for a model: it says what a model would plan.
var planned = llm.Func(func(context.Context, *llm.Request) (*llm.Response, error) {
	return &llm.Response{Finish: llm.FinishStop, Text: `{
		"steps": [
			{"id": "s1", "do": "call", "functionality": "ride.fare", "args": {"from": "Main Street", "to": "Elm Avenue"}},
			{"id": "s2", "do": "call", "functionality": "wallet.reserve", "args": {"fare": {"step": "s1", "pointer": "/fare"}}}
		],
		"answer": {"template": ["The ride costs ", {"step": "s1", "pointer": "/fare"}, "; reservation ", {"step": "s2", "pointer": "/number"}, "."]}
	}`}, nil
})

// One request over two apps, from the plan to the answer. The person sees the
// plan before the second app gets what the first one said.
func Example() {
	taxi, err := spoke.New(isc.Manifest{ID: "taxi", Name: "Taxi"}, spoke.Func("ride.fare", price, spoke.Reads()))
	if err != nil {
		log.Fatal(err)
	}
	wallet, err := spoke.New(isc.Manifest{ID: "wallet", Name: "Wallet"}, spoke.Func("wallet.reserve", book, spoke.Writes()))
	if err != nil {
		log.Fatal(err)
	}
	person := permission.PrompterFunc(func(_ context.Context, r permission.Request) (permission.Answer, error) {
		fmt.Println("asked:", r.Kind)
		for _, f := range r.Flows {
			fmt.Println(" ", f.App.ID, f.Functionality, f.Effect)
		}
		return r.Answer(permission.AllowOnce), nil
	})
	h, err := hub.New(hub.Config{LLM: planned, Apps: []spoke.App{taxi, wallet}, Consent: person, Launcher: spoke.InProcess()})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = h.Close() }()
	session, err := h.Session(hub.SessionConfig{User: "me"})
	if err != nil {
		log.Fatal(err)
	}
	answer, err := session.Ask(context.Background(), "What is the ride from Main Street to Elm Avenue? Reserve the money.")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.Text)
	for _, f := range answer.Facts {
		fmt.Printf("%s said %s\n", f.App, f.Value)
	}
	// Output:
	// asked: approve-plan
	//   taxi ride.fare read
	//   wallet wallet.reserve write
	// The ride costs 51.80; reservation 7.
	// taxi said 51.80
	// wallet said 7
}

// Models, for which the program needs a key or a server. They are compiled and
// not run.
func Example_models() {
	openModel := func() (llm.LLM, error) {
		// OpenAI, and whatever speaks its protocol.
		model, err := openai.New(openai.Config{
			BaseURL: "https://api.openai.com/v1", APIKey: os.Getenv("OPENAI_API_KEY"), Model: "gpt-4o-mini",
			Schema: openai.ResponseFormat, Tools: true, Strict: true,
		})
		if err != nil {
			return nil, err
		}
		budget := llm.NewBudget(llm.BudgetConfig{MaxCalls: 200, MaxTokens: 1_000_000})
		return llm.Chain(model, budget.Wrap, llm.Retry(llm.RetryConfig{}), llm.Timeout(time.Minute)), nil
	}
	openLocal := func() (llm.LLM, error) {
		// llama.cpp, vLLM, LM Studio, Ollama under /v1. No key, and no tool calls.
		return openai.New(openai.Config{BaseURL: "http://127.0.0.1:8080/v1", Model: "qwen", Schema: openai.ResponseFormat})
	}
	openAnthropic := func() (llm.LLM, error) {
		// Any provider of langchaingo, with an HTTP client that sees what the
		// library does not tell.
		provider, err := anthropic.New(
			anthropic.WithToken(os.Getenv("ANTHROPIC_API_KEY")), anthropic.WithModel("claude-sonnet-4-5"),
			anthropic.WithHTTPClient(langchain.Client(nil)),
		)
		if err != nil {
			return nil, err
		}
		return langchain.New(provider, langchain.Config{Tools: true, MaxTokens: 2000})
	}
	_, _, _ = openModel, openLocal, openAnthropic
}

// The kinds of app: functions, functions that ask other apps, and apps that are
// instructions for a model of their own.
func Example_apps() {
	// A Go function: the formats are inferred, a call reaches no model.
	quote := spoke.Func("ride.fare", price, spoke.Reads(), spoke.Describe("What a ride costs."))

	// A function that asks for other apps' functionalities and for data.
	plan := spoke.FuncWith("ride.plan", func(ctx context.Context, h spoke.Hub, t trip) (fare, error) {
		at, err := h.Use(ctx, "calendar.next", json.RawMessage(`{}`))
		if errors.Is(err, spoke.ErrRefused) {
			return price(ctx, t) // not installed, denied, failed: all the same
		}
		if err != nil {
			return fare{}, err
		}
		return price(ctx, trip{From: t.From, To: string(at)})
	}, spoke.Reads())

	// A functionality that the app's own model serves, following instructions.
	advise := spoke.Agent("ride.advise", isc.MustFormat(`{"type":"object","additionalProperties":false,
		"properties":{"wish":{"type":"string","maxLength":500}},"required":["wish"]}`), isc.MustFormat(`{"type":"object",
		"additionalProperties":false,"properties":{"advice":{"type":"string","maxLength":500}},"required":["advice"]}`), spoke.Reads())

	taxi, err := spoke.New(isc.Manifest{
		ID: "taxi", Name: "Taxi", Version: "1.2.0", Publisher: "Taxi Ltd",
		Instructions: "You advise on rides. Prefer the cheaper one.",
		Needs:        []isc.DataField{{Name: "home_address", Purpose: "to offer rides home"}},
		Wants:        []isc.FunctionalityName{"calendar.next"},
	}, quote, plan, advise)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(taxi.Manifest().Functionalities))
	// Output: 3
}

// Who is asked, by which policy, and where permissions, memory and the audit
// trail are kept.
func Example_consent() {
	configure := func(model llm.LLM, apps []spoke.App) (*hub.Hub, error) {
		policy, err := permission.Layers(permission.Balanced(), permission.Layer{Name: "house", Rules: []permission.Rule{
			{ID: "no-mail-out", Effect: permission.RuleDeny, Functionality: "mail.send"},
			{ID: "fares-are-free", Effect: permission.RuleAllow, From: "*", To: "taxi", Functionality: "ride.fare"},
		}})
		if err != nil {
			return nil, err
		}
		grants, err := permission.OpenFile("grants.json") // permanent permissions; its directory must exist
		if err != nil {
			return nil, err
		}
		trail, err := hub.CreateAuditFile("audit.jsonl") // every message and decision, hash-chained
		if err != nil {
			return nil, err
		}
		return hub.New(hub.Config{
			LLM: model, Apps: apps, Launcher: spoke.Process(spoke.ProcessConfig{}),
			Consent: terminal.New(os.Stdin, os.Stderr), Policy: policy, Grants: grants,
			Memory: memory.InMemory(), Audit: trail,
			Models:  map[isc.AppID]llm.LLM{"taxi": model},                                                // an app's own model
			Vanilla: []hub.Vanilla{{Name: "medical", Description: "questions about health", LLM: model}}, // a spoke without an app
		})
	}
	_ = configure
}

// What happens is told while it happens.
func Example_events() {
	follow := func(ctx context.Context, session *hub.Session) error {
		for event, err := range session.Run(ctx, "Fares home?", hub.Private()) {
			if err != nil {
				return err
			}
			switch e := event.(type) {
			case hub.Planned:
				fmt.Println("plan of", len(e.Plan.Steps), "steps")
			case hub.Decided:
				fmt.Println(e.Question.Kind, e.Verdict.Decision, e.Verdict.Reason)
			case hub.Answered:
				fmt.Println(e.Answer.Text)
			default: // asked, launched, step ended, …
			}
		}
		return nil
	}
	_ = follow
}

// Apps reach the hosts that their manifests name, each with consent.
func Example_remote() {
	configure := func(model llm.LLM, apps []spoke.App) (*hub.Hub, error) {
		remote, err := egress.New(egress.Config{}) // no loopback, no private network, no metadata service
		if err != nil {
			return nil, err
		}
		launcher := spoke.Process(spoke.ProcessConfig{Warm: 2}) // close it, and remote, after the hub
		return hub.New(hub.Config{LLM: model, Apps: apps, Launcher: launcher, HTTP: remote})
	}
	_ = configure
}
