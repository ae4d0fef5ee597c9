package planner

import (
	"fmt"
	"maps"
	"slices"

	"github.com/isolategpt/isolategpt/isc"
)

// Catalogue is the set of functionalities and apps known to the hub. It is
// immutable, and depends on what it was made from but not on its order. The
// zero value is empty.
//
// Source: paper §IV-A2 (the hub's list of functionalities); design, sections 3
// and 4.2.
type Catalogue struct {
	entries []Entry // sorted by name
	apps    []App   // sorted by id
	spokes  []Vanilla
	names   map[string]int
	lex     *lexicon
	formats map[*isc.Format]*places
}

// CatalogueConfig is what a catalogue is made from.
type CatalogueConfig struct {
	// Manifests are of the installed apps.
	Manifests []isc.Manifest
	// Known are definitions that the embedding program vouches for, whoever
	// serves them, if anyone does.
	Known []isc.Functionality
	// Market are the manifests of apps that could be installed. What an
	// installed app or Known offers too is not taken from them.
	Market []isc.Manifest
	// Vanilla are the specialised vanilla spokes.
	Vanilla []Vanilla
}

// Entry is a functionality as it may be planned with.
type Entry struct {
	// Name is what a plan writes. It is the functionality's name, or
	// "app/functionality" where apps disagree about its formats or effect.
	Name          string
	Functionality isc.FunctionalityName
	// Providers are the installed apps that serve it, sorted. None: known, not
	// installed.
	Providers []isc.AppID
	Request   *isc.Format
	Response  *isc.Format
	Effect    isc.Effect
	// Description is vouched for, or empty.
	Description string
	// Claims are the third-party descriptions by provider. They are seen by a
	// pairwise match about that provider alone, and by nothing else.
	Claims map[isc.AppID]string
}

// App is an installed app as it may be delegated to.
type App struct {
	ID isc.AppID
	// Name is the display name, if vouched for, else empty.
	Name string
	// Description is vouched for, or empty.
	Description string
	// Claim is the third-party description, for a pairwise match alone.
	Claim string
	// Entries are the names of its entries, sorted.
	Entries []string
	// Agent says that it has instructions, so that sub-tasks can be delegated
	// to it.
	Agent bool
}

// Vanilla is a specialised vanilla spoke of the embedding program.
type Vanilla struct {
	Name        string
	Description string // vouched for
}

// NewCatalogue makes the catalogue. All providers of a functionality that agree
// about its formats and effect share one entry. Where one of Known has the
// name, that definition is the entry, and a provider that disagrees has an
// entry of its own; where none has and providers disagree, each has its own.
// A text becomes a description only if its manifest is vouched for or it stands
// in Known; all other texts become claims.
//
// Errors are a manifest that does not validate, an app twice, and
// [*LookAlikeError].
func NewCatalogue(cfg CatalogueConfig) (*Catalogue, error) {
	installed, market, err := checked(cfg)
	if err != nil {
		return nil, err
	}
	c := &Catalogue{spokes: slices.Clone(cfg.Vanilla), lex: &lexicon{}}
	slices.SortFunc(c.spokes, func(a, b Vanilla) int { return compare(a.Name, b.Name) })
	for i, v := range c.spokes {
		if v.Name == "" || i > 0 && c.spokes[i-1].Name == v.Name {
			return nil, fmt.Errorf("planner: catalogue: vanilla spoke %q: nameless or there twice", v.Name)
		}
	}
	c.entries = collect(cfg.Known, installed, market)
	c.index()
	for _, m := range installed {
		c.apps = append(c.apps, c.appOf(m))
	}
	return c, nil
}

// checked clones, sorts and checks the manifests.
func checked(cfg CatalogueConfig) (installed, market []isc.Manifest, err error) {
	seen := map[isc.AppID]bool{}
	for _, m := range cfg.Manifests {
		if err := m.Validate(); err != nil {
			return nil, nil, fmt.Errorf("planner: catalogue: app %q: %w", short(string(m.ID)), err)
		}
		if seen[m.ID] {
			return nil, nil, fmt.Errorf("planner: catalogue: app %q is there twice", m.ID)
		}
		seen[m.ID] = true
		installed = append(installed, m.Clone())
	}
	for _, m := range cfg.Market {
		if err := m.Validate(); err != nil {
			return nil, nil, fmt.Errorf("planner: catalogue: app %q of the market: %w", short(string(m.ID)), err)
		}
		if !seen[m.ID] { // else it is installed, perhaps in another version
			market = append(market, m.Clone())
		}
	}
	for _, f := range cfg.Known {
		if err := f.Name.Validate(); err != nil || f.Request == nil || f.Response == nil {
			return nil, nil, fmt.Errorf("planner: catalogue: known functionality %q: bad name or a format is missing", short(string(f.Name)))
		}
	}
	byID := func(a, b isc.Manifest) int { return compare(a.ID, b.ID) }
	slices.SortFunc(installed, byID)
	slices.SortStableFunc(market, byID)
	return installed, market, lookAlikes(installed, market, cfg.Known)
}

func (c *Catalogue) index() {
	slices.SortFunc(c.entries, func(a, b Entry) int { return compare(a.Name, b.Name) })
	c.names = make(map[string]int, len(c.entries))
	c.formats = make(map[*isc.Format]*places, 2*len(c.entries))
	for i, e := range c.entries {
		c.names[e.Name] = i
		for _, f := range []*isc.Format{e.Request, e.Response} {
			if c.formats[f] == nil {
				c.formats[f] = &places{format: f}
			}
		}
	}
}

func (c *Catalogue) appOf(m isc.Manifest) App {
	a := App{ID: m.ID, Agent: m.Instructions != ""}
	if m.Vouched {
		a.Name, a.Description = m.Name, m.Description
	} else {
		a.Claim = m.Description
	}
	for _, f := range m.Functionalities {
		a.Agent = a.Agent || f.Agent
		for _, name := range []string{string(f.Name), ownName(m.ID, f.Name)} {
			if i, ok := c.names[name]; ok && slices.Contains(c.entries[i].Providers, m.ID) {
				a.Entries = append(a.Entries, name)
			}
		}
	}
	slices.Sort(a.Entries)
	return a
}

// Entries are all entries, sorted by name.
func (c *Catalogue) Entries() []Entry {
	if c == nil {
		return nil
	}
	out := make([]Entry, len(c.entries))
	for i, e := range c.entries {
		out[i] = e.clone()
	}
	return out
}

// Entry is the entry with that name.
func (c *Catalogue) Entry(name string) (Entry, bool) {
	e, ok := c.entry(name)
	return e.clone(), ok
}

// entry is Entry without the copy, for reading only.
func (c *Catalogue) entry(name string) (Entry, bool) {
	if c == nil {
		return Entry{}, false
	}
	i, ok := c.names[name]
	if !ok {
		return Entry{}, false
	}
	return c.entries[i], true
}

// Apps are the installed apps, sorted by id.
func (c *Catalogue) Apps() []App {
	if c == nil {
		return nil
	}
	out := make([]App, len(c.apps))
	for i, a := range c.apps {
		a.Entries = slices.Clone(a.Entries)
		out[i] = a
	}
	return out
}

// App is the installed app with that id.
func (c *Catalogue) App(id isc.AppID) (App, bool) {
	if c == nil {
		return App{}, false
	}
	i, ok := slices.BinarySearchFunc(c.apps, id, func(a App, id isc.AppID) int { return compare(a.ID, id) })
	if !ok {
		return App{}, false
	}
	a := c.apps[i]
	a.Entries = slices.Clone(a.Entries)
	return a, true
}

// Vanilla are the specialised vanilla spokes, sorted by name.
func (c *Catalogue) Vanilla() []Vanilla {
	if c == nil {
		return nil
	}
	return slices.Clone(c.spokes)
}

// places are those of a format of an entry, nil for another.
func (c *Catalogue) places(f *isc.Format) *places {
	if c == nil {
		return nil
	}
	return c.formats[f]
}

func (e Entry) clone() Entry {
	e.Providers = slices.Clone(e.Providers)
	e.Claims = maps.Clone(e.Claims)
	return e
}

// ownName is the name of an entry that one provider has for itself.
func ownName(id isc.AppID, f isc.FunctionalityName) string { return string(id) + "/" + string(f) }
