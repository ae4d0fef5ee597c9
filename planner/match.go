package planner

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/llm"
)

const (
	// maxMatches bounds the questions of one request: the first unclear apps by
	// id are asked about, the others are no candidates.
	maxMatches = 16
	maxClaim   = 2000 // bytes of one app's description that its question shows
)

var matchSchema = json.RawMessage(`{"type":"object","properties":{"match":{"type":"boolean"}},"required":["match"],"additionalProperties":false}`)

// generic are words in names that would fit any app.
var generic = strings.Fields(`act action agent app ask assist assistant bot call chat command do execute function
	generate get go handle help helper input invoke main message operate perform process prompt query request respond
	response run send service start submit task text tool use work`)

// unclear are the apps that need a pairwise match, sorted by id.
func (c *Catalogue) unclear() []App {
	if c == nil {
		return nil
	}
	return c.lexical().unclear
}

// findUnclear finds the apps whose names do not say what they are for, and whose
// description nobody vouches for, sorted by id.
func (c *Catalogue) findUnclear() []App {
	var out []App
	for _, a := range c.apps {
		if a.Description != "" || a.Name != "" || len(a.Entries) == 0 && !a.Agent {
			continue
		}
		if c.claim(a) != "" && !slices.ContainsFunc(a.Entries, c.telling) {
			out = append(out, a)
		}
	}
	return out
}

// claim is all that an app says about itself.
func (c *Catalogue) claim(a App) string {
	parts := []string{a.Claim}
	for _, name := range a.Entries {
		if e, ok := c.entry(name); ok {
			parts = append(parts, e.Claims[a.ID])
		}
	}
	return strings.TrimSpace(strings.Join(parts, "\n"))
}

// telling says whether an entry can be chosen by what the prompt shows of it.
func (c *Catalogue) telling(name string) bool {
	e, ok := c.entry(name)
	if !ok || e.Description != "" || len(e.Providers) > 1 {
		return ok
	}
	for _, w := range words(string(e.Functionality)) {
		if !slices.Contains(generic, w) {
			return true
		}
	}
	return false
}

// matchUnclear asks about each unclear app alone, all side by side, and
// returns those that are no candidates. A question that fails for any reason
// but ctx counts as no, and touches no other app.
func (p *LLMPlanner) matchUnclear(ctx context.Context, in Input) (map[isc.AppID]bool, error) {
	apps := in.Catalogue.unclear()
	if len(apps) == 0 {
		return nil, nil
	}
	out := map[isc.AppID]bool{}
	for _, a := range apps[min(len(apps), maxMatches):] {
		out[a.ID] = true
	}
	apps = apps[:min(len(apps), maxMatches)]
	yes := make([]bool, len(apps))
	var all sync.WaitGroup
	for i, a := range apps {
		all.Go(func() { yes[i] = p.match(ctx, in.Query, in.Catalogue.claim(a)) })
	}
	all.Wait()
	if ctx.Err() != nil {
		return nil, fmt.Errorf("planner: plan: %w", context.Cause(ctx))
	}
	for i, a := range apps {
		if !yes[i] {
			out[a.ID] = true
		}
	}
	return out, nil
}

// match asks whether one app's claim fits the request. The claim is quoted, so
// that it cannot end its own quotes.
func (p *LLMPlanner) match(ctx context.Context, query, claim string) (yes bool) {
	defer func() {
		if recover() != nil { // a model that panics over one app's text says no
			yes = false
		}
	}()
	if len(claim) > maxClaim {
		claim = strings.ToValidUTF8(claim[:maxClaim], "")
	}
	res, err := p.cfg.Match.Generate(ctx, &llm.Request{
		Messages: []llm.Message{
			{Role: llm.System, Text: matchPrompt},
			{Role: llm.User, Text: "Request:\n" + query + "\n\nThe app says: " + quoted(claim)},
		},
		Schema: matchSchema, MaxTokens: 20, Temperature: &p.temperature, Purpose: "match",
	})
	if err != nil || res == nil {
		return false
	}
	raw, err := llm.Extract(res.Text)
	if err != nil {
		return false
	}
	var reply struct {
		Match bool `json:"match"`
	}
	return isc.Unmarshal(raw, &reply) == nil && reply.Match
}
