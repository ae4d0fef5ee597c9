package planner

import (
	"encoding/json"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/isolategpt/isolategpt/isc"
)

// view is the part of a catalogue that one planning prompt shows.
type view struct {
	entries []Entry
	cards   []card
	apps    []App
	spokes  []Vanilla
	pos     map[string]int
	last    *atomic.Pointer[madeSchema]
}

// newView picks the candidates. Apps in out were found not to help, so that
// what only they serve is left out.
func newView(in Input, most int, out map[isc.AppID]bool) view {
	v := view{pos: map[string]int{}, last: &atomic.Pointer[madeSchema]{}}
	if in.Catalogue == nil {
		return v
	}
	c := in.Catalogue
	v.last = &c.lexical().schema
	for _, i := range c.candidates(in.Query, most, out) {
		e := c.entries[i]
		v.pos[e.Name] = len(v.entries)
		v.entries = append(v.entries, e)
		v.cards = append(v.cards, c.cards()[i])
	}
	v.apps = c.shownApps(v.entries, most, out)
	v.spokes = c.spokes
	return v
}

// shownApps are the apps of the candidates, and those that only take tasks.
func (c *Catalogue) shownApps(entries []Entry, most int, out map[isc.AppID]bool) []App {
	used := map[isc.AppID]bool{}
	for _, e := range entries {
		for _, id := range e.Providers {
			used[id] = true
		}
	}
	var shown []App
	for _, a := range c.apps {
		onlyTasks := a.Agent && len(a.Entries) == 0
		if out[a.ID] || !used[a.ID] && !onlyTasks {
			continue
		}
		if shown = append(shown, a); len(shown) == most {
			break
		}
	}
	return shown
}

func (v view) has(name string) bool { _, ok := v.pos[name]; return ok }

func (v view) entry(name string) (Entry, bool) {
	i, ok := v.pos[name]
	if !ok {
		return Entry{}, false
	}
	return v.entries[i], true
}

func (v view) takesTasks(id isc.AppID) bool {
	return slices.ContainsFunc(v.apps, func(a App) bool { return a.ID == id && a.Agent })
}

// schema is the reply's schema. The last one made is kept: most requests see
// the whole catalogue, and the same.
func (v view) schema(keys []string) json.RawMessage {
	var agents []string
	for _, a := range v.apps {
		if a.Agent {
			agents = append(agents, string(a.ID))
		}
	}
	names := make([]string, len(v.cards))
	for i, c := range v.cards {
		names[i] = c.name
	}
	from := strings.Join(slices.Concat(names, []string{""}, agents, []string{""}, keys), "\n")
	if last := v.last.Load(); last != nil && last.from == from {
		return slices.Clone(last.schema)
	}
	made := &madeSchema{from: from, schema: planSchema(v.cards, agents, keys)}
	v.last.Store(made)
	return slices.Clone(made.schema)
}

// madeSchema is a schema and what it was made from.
type madeSchema struct {
	from   string
	schema json.RawMessage
}
