package isc

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
)

// Clone is a deep copy. Formats are shared, since they are immutable.
func (m Manifest) Clone() Manifest {
	m.Functionalities = slices.Clone(m.Functionalities)
	m.Hosts = slices.Clone(m.Hosts)
	m.Needs = slices.Clone(m.Needs)
	m.Wants = slices.Clone(m.Wants)
	return m
}

// Find returns the functionality of that name.
func (m Manifest) Find(n FunctionalityName) (Functionality, bool) {
	i := slices.IndexFunc(m.Functionalities, func(f Functionality) bool { return f.Name == n })
	if i < 0 {
		return Functionality{}, false
	}
	return m.Functionalities[i], true
}

// Digest is over everything that the app declares, in a canonical form that no
// order of keys, functionalities or hosts changes. Whether the program vouches
// for the app is no part of it. A manifest that is not valid may have the zero
// Digest.
func (m Manifest) Digest() Digest {
	m = m.Clone()
	slices.SortStableFunc(m.Functionalities, func(a, b Functionality) int { return cmp.Compare(a.Name, b.Name) })
	slices.Sort(m.Hosts)
	slices.Sort(m.Wants)
	return digestOf(m)
}

// Pin is what a grant for functionality n is bound to: the app's id, everything
// about n, and the hosts. A new version, a new text or another functionality
// leaves it as it is. It is the zero Digest if the app has no n.
//
// Source: security scenario A4.
func (m Manifest) Pin(n FunctionalityName) Digest {
	f, ok := m.Find(n)
	if !ok {
		return Digest{}
	}
	hosts := slices.Clone(m.Hosts)
	slices.Sort(hosts)
	return digestOf(struct {
		ID            AppID         `json:"id"`
		Functionality Functionality `json:"functionality"`
		Hosts         []string      `json:"hosts"`
	}{m.ID, f, hosts})
}

// digestOf is the zero Digest for what has no JSON; it is none to anybody who
// compares.
func digestOf(v any) Digest {
	raw, err := json.Marshal(v)
	if err != nil {
		return Digest{}
	}
	got, err := decode(raw, manifestLimits, false)
	if err != nil {
		return Digest{}
	}
	return DigestOf(got.canonical)
}

// manifestLimits leave room for the schemas of many functionalities.
var manifestLimits = Limits{Size: 8 << 20, Depth: 80, Nodes: 1 << 20}

// DecodeManifest decodes raw strictly (at most 8 MiB) and validates it. The error
// joins all that is wrong; Vouched is never set.
func DecodeManifest(raw []byte) (Manifest, error) {
	var w manifestText
	if err := unmarshal(raw, &w, manifestLimits); err != nil {
		return Manifest{}, err
	}
	p := &problems{}
	m := Manifest{
		ID: AppID(w.ID), Name: w.Name, Version: w.Version, Publisher: w.Publisher, Description: w.Description,
		Instructions: w.Instructions, Hosts: w.Hosts, Needs: w.Needs,
	}
	for _, want := range w.Wants {
		m.Wants = append(m.Wants, FunctionalityName(want))
	}
	for _, f := range w.Functionalities {
		m.Functionalities = append(m.Functionalities, f.functionality(p))
	}
	if err := errors.Join(append(p.list, m.Validate())...); err != nil {
		return Manifest{}, err
	}
	return m, nil
}

// manifestText is a manifest whose parts are not believed yet, so that each gets
// an error of its own.
type manifestText struct {
	ID              string              `json:"id"`
	Name            string              `json:"name"`
	Version         string              `json:"version"`
	Publisher       string              `json:"publisher"`
	Description     string              `json:"description"`
	Instructions    string              `json:"instructions"`
	Functionalities []functionalityText `json:"functionalities"`
	Hosts           []string            `json:"hosts"`
	Needs           []DataField         `json:"needs"`
	Wants           []string            `json:"wants"`
}

type functionalityText struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Request     json.RawMessage `json:"request"`
	Response    json.RawMessage `json:"response"`
	Effect      string          `json:"effect"`
	Agent       bool            `json:"agent"`
}

func (t functionalityText) functionality(p *problems) Functionality {
	f := Functionality{Name: FunctionalityName(t.Name), Description: t.Description, Agent: t.Agent}
	where := "functionality " + quoted(t.Name)
	if t.Effect != "" {
		p.add(where, f.Effect.UnmarshalText([]byte(t.Effect)))
	}
	f.Request = p.format(where+": request", t.Request)
	f.Response = p.format(where+": response", t.Response)
	return f
}

func (p *problems) format(where string, raw json.RawMessage) *Format {
	if raw == nil {
		return nil // Validate says so
	}
	f, err := ParseFormat(raw)
	p.add(where, err)
	return f
}
