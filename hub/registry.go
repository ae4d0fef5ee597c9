package hub

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/planner"
)

// ErrUnknownApp says that no app of that id is installed.
var ErrUnknownApp = errors.New("hub: no such app installed")

// registry is what the hub knows of apps: an immutable snapshot. Installing
// makes a new one.
type registry struct {
	installed map[isc.AppID]isc.Manifest
	market    map[isc.AppID]isc.Manifest
	known     []isc.Functionality
	vanilla   []planner.Vanilla
	catalogue *planner.Catalogue
	// public are the functionalities that spokes may know of, with the formats
	// that they are shown: the same whatever is installed.
	public map[isc.FunctionalityName]planner.Entry
	// listed is the whole market, installed or not.
	listed []isc.Manifest
	// pins are the digests that grants are tied to, of what is installed.
	pins map[pinned]isc.Digest
}

// pinned is a functionality of an app, or, without one, the app as a whole.
type pinned struct {
	app  isc.AppID
	name isc.FunctionalityName
}

func newRegistry(installed, market []isc.Manifest, known []isc.Functionality, vanilla []planner.Vanilla) (*registry, error) {
	r := &registry{
		installed: map[isc.AppID]isc.Manifest{}, market: map[isc.AppID]isc.Manifest{},
		known: known, vanilla: vanilla, listed: market, public: map[isc.FunctionalityName]planner.Entry{}, pins: map[pinned]isc.Digest{},
	}
	for _, m := range installed {
		if _, twice := r.installed[m.ID]; twice {
			return nil, fmt.Errorf("hub: app %s is given twice", m.ID)
		}
		r.installed[m.ID] = m
		r.pins[pinned{app: m.ID}] = m.Digest()
		for _, f := range m.Functionalities {
			r.pins[pinned{m.ID, f.Name}] = m.Pin(f.Name)
		}
	}
	for _, m := range market {
		if _, here := r.installed[m.ID]; !here {
			r.market[m.ID] = m
		}
	}
	if err := r.publish(); err != nil {
		return nil, fmt.Errorf("hub: %w", err)
	}
	var err error
	r.catalogue, err = planner.NewCatalogue(planner.CatalogueConfig{
		Manifests: sorted(r.installed), Market: sorted(r.market), Known: known, Vanilla: vanilla,
	})
	if err != nil {
		return nil, fmt.Errorf("hub: %w", err)
	}
	return r, nil
}

// publish makes the public entries from what the program vouches for and the
// whole market. Where apps of the market disagree about formats, the first in
// the order of their ids counts.
func (r *registry) publish() error {
	public, err := planner.NewCatalogue(planner.CatalogueConfig{Known: r.known, Market: r.listed})
	if err != nil {
		return err
	}
	for _, e := range public.Entries() {
		if _, there := r.public[e.Functionality]; !there || e.Name == string(e.Functionality) {
			r.public[e.Functionality] = e
		}
	}
	return nil
}

// providers are the installed apps that serve exactly what e says, sorted.
func (r *registry) providers(e planner.Entry) []isc.AppID {
	if own, ok := r.catalogue.Entry(e.Name); ok && own.Effect == e.Effect && sameFormats(own.Request, e.Request) && sameFormats(own.Response, e.Response) {
		return own.Providers
	}
	var out []isc.AppID
	for _, m := range sorted(r.installed) {
		f, ok := m.Find(e.Functionality)
		if ok && f.Effect == e.Effect && sameFormats(f.Request, e.Request) && sameFormats(f.Response, e.Response) {
			out = append(out, m.ID)
		}
	}
	return out
}

func sameFormats(a, b *isc.Format) bool { return a.Digest() == b.Digest() }

// with is the registry after m was installed.
func (r *registry) with(m isc.Manifest) (*registry, error) {
	return newRegistry(append(sorted(r.installed), m), r.listed, r.known, r.vanilla)
}

func sorted(m map[isc.AppID]isc.Manifest) []isc.Manifest {
	out := make([]isc.Manifest, 0, len(m))
	for _, manifest := range m {
		out = append(out, manifest)
	}
	slices.SortFunc(out, func(a, b isc.Manifest) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return out
}

func (r *registry) manifest(id isc.AppID) (isc.Manifest, bool) {
	m, ok := r.installed[id]
	return m, ok
}

func (r *registry) isPublic(name isc.FunctionalityName) bool {
	_, ok := r.public[name]
	return ok
}

// entryFor is the entry that a spoke means by a functionality's name: the public
// one, if there is one. Where installed apps disagree about its formats there
// are several; the first in order of the apps' ids is taken, so that the answer
// depends on nothing that apps say.
func (r *registry) entryFor(name isc.FunctionalityName) (planner.Entry, bool) {
	if e, ok := r.public[name]; ok {
		return e, true
	}
	if e, ok := r.catalogue.Entry(string(name)); ok {
		return e, true
	}
	for _, m := range sorted(r.installed) {
		if e, ok := r.catalogue.Entry(string(m.ID) + "/" + string(name)); ok {
			return e, true
		}
	}
	return planner.Entry{}, false
}

// pin is what a grant for the app's functionality is tied to.
func (r *registry) pin(id isc.AppID, name isc.FunctionalityName) isc.Digest {
	return r.pins[pinned{id, name}]
}

// digest is what a grant to the app as a whole is tied to.
func (r *registry) digest(id isc.AppID) isc.Digest { return r.pins[pinned{app: id}] }

// offering are the apps in the market that serve entry, sorted.
func (r *registry) offering(e planner.Entry) []isc.Manifest {
	var out []isc.Manifest
	for _, m := range sorted(r.market) {
		f, ok := m.Find(e.Functionality)
		if ok && f.Request.Digest() == e.Request.Digest() && f.Response.Digest() == e.Response.Digest() {
			out = append(out, m)
		}
	}
	return out
}
