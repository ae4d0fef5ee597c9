// Package llmtest has models for tests, and the tests for models.
//
// [Script] replays turns that a test wrote and fails on a prompt that it does
// not expect. [TestLLM] is the suite that every adapter of a model server has
// to pass, and [Server] the loopback server that it runs against.
//
//	script := llmtest.NewScript(t,
//		llmtest.JSON(`{"steps":[]}`).For("plan").On("a ride to the airport"),
//		llmtest.Fail(&llm.Error{Kind: llm.RateLimited}).For("agent"),
//		llmtest.Say("Done.").For("agent"),
//	)
//
// Nothing here is for programs that serve people: a script obeys no prompt, and
// the server on loopback asks for no key.
//
// # Trust
//
// What is scripted is trusted, being the test's own.
//
// # Source
//
// The suite's cases are the promises of package llm and the rows of behaviour
// in which langchaingo v0.1.14 breaks them.
package llmtest
