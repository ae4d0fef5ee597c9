// Package isolategpt runs a person's request over third-party apps. It holds no
// code: the library is in the packages below it, of which [hub] is the entry.
//
// What the packages guarantee together is that no app, and nothing an app reads,
// reaches another app, the model that plans, or the person's data except through
// a narrow, checked channel and with consent. Text that an app wrote never
// enters a context that plans, routes or joins; every doubt denies; what was
// approved is what runs. Code is kept away by the isolation that a spoke runs in,
// which says what it was shown to hold; [spoke.InProcess] holds nothing. What
// none of it guarantees is that an app is honest within itself.
//
//	h, err := hub.New(hub.Config{
//		LLM:      model,                              // plans, and works for apps that bring none
//		Apps:     []spoke.App{sky, pad},              // third-party code, each in a spoke of its own
//		Consent:  terminal.New(os.Stdin, os.Stderr),  // nil: whatever would be asked is denied
//		Launcher: spoke.Process(spoke.ProcessConfig{}), // main begins with spoke.Main(sky, pad)
//	})
//	…
//	session, err := h.Session(hub.SessionConfig{User: "me"})
//	…
//	answer, err := session.Ask(ctx, "How warm is it in Oslo? Note it down.")
//
// The packages: [isc] is the protocol, [llm] what is needed of a model,
// [permission] consent and grants, [memory] what is remembered, [planner] plans
// and their validation, [spoke] the place where an app runs: in a confined
// process, with spoke/wasm in WebAssembly, with spoke/foreign as a program that
// is not Go; spoke/egress and spoke/spokehttp bring its requests to remote hosts.
//
// # Trust
//
// Trusted: the embedding program with what it supplies, the person, and the
// model's server, though a model may write anything and is checked. Not trusted:
// apps, and everything that they return.
//
// # Source
//
// IsolateGPT: An Execution Isolation Architecture for LLM-Based Agentic Systems
// (NDSS 2025, arXiv 2403.04960), cited everywhere as "paper §…". Where the code
// goes another way it says so; the reasons are in docs/adr.
//
// [hub]: https://pkg.go.dev/github.com/isolategpt/isolategpt/hub
// [isc]: https://pkg.go.dev/github.com/isolategpt/isolategpt/isc
// [llm]: https://pkg.go.dev/github.com/isolategpt/isolategpt/llm
// [permission]: https://pkg.go.dev/github.com/isolategpt/isolategpt/permission
// [memory]: https://pkg.go.dev/github.com/isolategpt/isolategpt/memory
// [planner]: https://pkg.go.dev/github.com/isolategpt/isolategpt/planner
// [spoke]: https://pkg.go.dev/github.com/isolategpt/isolategpt/spoke
// [spoke.InProcess]: https://pkg.go.dev/github.com/isolategpt/isolategpt/spoke#InProcess
package isolategpt
