package planner

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/isolategpt/isolategpt/isc"
)

func compare[T cmp.Ordered](a, b T) int { return cmp.Compare(a, b) }

// sortedKeys are the keys of m in order; nil if there are none.
func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	if len(m) == 0 {
		return nil
	}
	out := make([]K, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// offer is one provider's word on a functionality. No app: the embedding
// program's.
type offer struct {
	app     isc.AppID
	f       isc.Functionality
	vouched bool
	market  bool
}

// terms are what offers of one functionality must agree about to be one entry.
// They leave out every text.
type terms struct {
	request, response isc.Digest
	effect            isc.Effect
}

func (o offer) terms() terms {
	return terms{formatTerms(o.f.Request), formatTerms(o.f.Response), o.f.Effect}
}

// formatTerms identifies a format by what it accepts and the roles of its
// fields, without its annotations: a text in them makes no two apps disagree.
func formatTerms(f *isc.Format) isc.Digest {
	terms := f.Bare()
	for _, d := range f.Fields() {
		terms = fmt.Appendf(terms, "\n%q %d", d.Pointer, d.Role)
	}
	return isc.DigestOf(terms)
}

// collect makes the entries, in no order.
func collect(known []isc.Functionality, installed, market []isc.Manifest) []Entry {
	groups := map[isc.FunctionalityName][]offer{}
	add := func(o offer) { groups[o.f.Name] = append(groups[o.f.Name], o) }
	for _, f := range known {
		add(offer{f: f, vouched: true})
	}
	for _, m := range installed {
		for _, f := range m.Functionalities {
			add(offer{app: m.ID, f: f, vouched: m.Vouched})
		}
	}
	taken := maps.Clone(groups)
	for _, m := range market {
		for _, f := range m.Functionalities {
			if _, ok := taken[f.Name]; !ok {
				add(offer{app: m.ID, f: f, vouched: m.Vouched, market: true})
			}
		}
	}
	var out []Entry
	for _, name := range sortedKeys(groups) {
		out = append(out, entriesOf(groups[name])...)
	}
	return out
}

// entriesOf makes the entries of one name's offers, which are sorted by app,
// the embedding program's first.
func entriesOf(offers []offer) []Entry {
	first := offers[0]
	agreed, own := offers[:1], []offer(nil)
	if len(offers) > 1 {
		agreed, own = agreeing(offers)
	}
	if len(own) > 0 && first.app != "" {
		agreed, own = nil, offers
	}
	var out []Entry
	if len(agreed) > 0 {
		out = append(out, entryOf(string(first.f.Name), agreed))
	}
	for _, o := range own {
		out = append(out, entryOf(ownName(o.app, o.f.Name), []offer{o}))
	}
	return out
}

// agreeing splits offers into those that have the terms of the first, and the
// others.
func agreeing(offers []offer) (agreed, own []offer) {
	terms := offers[0].terms()
	for _, o := range offers {
		if o.terms() == terms {
			agreed = append(agreed, o)
		} else {
			own = append(own, o)
		}
	}
	return agreed, own
}

func entryOf(name string, offers []offer) Entry {
	// The formats of who is vouched for, since annotations may differ.
	base := offers[0]
	if i := slices.IndexFunc(offers, func(o offer) bool { return o.vouched }); i >= 0 {
		base = offers[i]
	}
	e := Entry{
		Name: name, Functionality: base.f.Name,
		Request: base.f.Request, Response: base.f.Response, Effect: base.f.Effect,
	}
	for _, o := range offers {
		if o.app != "" && !o.market {
			e.Providers = append(e.Providers, o.app)
		}
		switch {
		case o.vouched && e.Description == "":
			e.Description = o.f.Description
		case !o.vouched && o.f.Description != "":
			if e.Claims == nil {
				e.Claims = map[isc.AppID]string{}
			}
			e.Claims[o.app] = o.f.Description
		}
	}
	return e
}
