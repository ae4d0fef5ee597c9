// Package hub runs a person's request over apps that cannot reach one another.
//
// A [Hub] composes what the embedding program supplies: a model, apps, a
// memory, who is asked, and where spokes run. A [Session] is one person's use
// of it. [Session.Run] resolves one request and yields what happens;
// [Session.Ask] gives the answer alone.
//
//	h, err := hub.New(hub.Config{
//		LLM: model, Apps: []spoke.App{metro, quick},
//		Consent:  terminal.New(os.Stdin, os.Stderr),
//		Launcher: spoke.Process(spoke.ProcessConfig{}), // main begins with spoke.Main(metro, quick)
//	})
//	…
//	s, err := h.Session(hub.SessionConfig{User: "me"})
//	…
//	answer, err := s.Ask(ctx, "What is the fare from Main Street to Elm Avenue?")
//
// # What it guarantees
//
// Nothing runs but a plan that was validated without a model. Text that an app
// wrote never enters the planner, and no other app's model without consent.
// Each message of a spoke is checked, counted and recorded; what is not
// understood, not installed, not allowed or failed gives the spoke the same
// bytes. Each act that cannot be undone is asked about with the exact bytes
// that will be sent. Every doubt denies: no prompter, a late answer, a panic, a
// trail that cannot be written.
//
// An app that was installed from the catalogue runs with [isc.FullIsolation] or
// not at all, unless Config.Waive names it. What each spoke really has is in
// [Hub.Report], in the trail, and, where something is lacking, in one warning
// and in every dialog about its app. What an app sends to a remote host goes
// through Config.HTTP, each host with consent. A spoke that dies, hangs or
// floods ends its own step, and an app that keeps crashing is started no more
// in that session.
//
// It does not judge whether an app does its own work well, and it isolates code
// only as far as the [spoke.Launcher] does; [spoke.InProcess] isolates contexts,
// not code, and an app of Config.Apps may be run so.
//
// # Trust boundary
//
// Trusted are the embedding program, the models' hosts, and the person.
// Everything that a spoke sends is untrusted, whoever wrote its app; so are the
// texts of manifests, and what a model says after it read any of it. The files
// of this package but hub.go, which composes, import neither models nor spokes:
// the operator is deterministic.
//
// # Source
//
// Paper §IV-A (hub), §IV-C (inter-spoke communication), App. A. The plan is a
// checked program instead of a routing agent, and consent is for exact bytes:
// docs/adr/0003, 0005 and 0006 say why.
package hub
