package planner

import (
	"encoding/json"
	"slices"
	"sync/atomic"

	"github.com/isolategpt/isolategpt/isc"
)

// view is the part of a catalogue that one planning prompt shows. It is not
// changed after it was made.
type view struct {
	entries []Entry
	cards   []card
	apps    []App
	agents  []string // ids of those of apps that take tasks
	spokes  []Vanilla
	pos     map[string]int
	text    string // what the request message says of it
	last    *atomic.Pointer[madeSchema]
}

// wholeView is the view of a whole catalogue of at most most entries: what most
// requests see.
type wholeView struct {
	most int
	view view
}

// newView picks the candidates. Apps in out were found not to help, so that
// what only they serve is left out. The view of a whole catalogue is kept with
// it.
func newView(in Input, most int, out map[isc.AppID]bool) view {
	c := in.Catalogue
	if c == nil {
		v := view{pos: map[string]int{}, last: &atomic.Pointer[madeSchema]{}}
		v.text = catalogueText(v)
		return v
	}
	l := c.lexical()
	whole := len(out) == 0 && len(c.entries) <= most
	if kept := l.whole.Load(); whole && kept != nil && kept.most == most {
		return kept.view
	}
	v := c.view(c.candidates(in.Query, most, out), most, out)
	if whole {
		l.whole.Store(&wholeView{most: most, view: v})
	}
	return v
}

// view shows the entries at positions.
func (c *Catalogue) view(positions []int, most int, out map[isc.AppID]bool) view {
	v := view{pos: make(map[string]int, len(positions)), last: &c.lexical().schema}
	for _, i := range positions {
		e := c.entries[i]
		v.pos[e.Name] = len(v.entries)
		v.entries = append(v.entries, e)
		v.cards = append(v.cards, c.cards()[i])
	}
	v.apps = c.shownApps(v.entries, most, out)
	for _, a := range v.apps {
		if a.Agent {
			v.agents = append(v.agents, string(a.ID))
		}
	}
	v.spokes = c.spokes
	v.text = catalogueText(v)
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
	last := v.last.Load()
	if last == nil || !last.fits(v, keys) {
		last = &madeSchema{cards: v.cards, agents: v.agents, keys: keys, schema: planSchema(v.cards, v.agents, keys)}
		v.last.Store(last)
	}
	return slices.Clone(last.schema)
}

// madeSchema is a schema and what it was made from.
type madeSchema struct {
	cards        []card
	agents, keys []string
	schema       json.RawMessage
}

// fits says whether m is the schema of v and keys. Cards of one catalogue are
// the same if their names are.
func (m *madeSchema) fits(v view, keys []string) bool {
	return slices.EqualFunc(m.cards, v.cards, func(a, b card) bool { return a.name == b.name }) &&
		slices.Equal(m.agents, v.agents) && slices.Equal(m.keys, keys)
}
