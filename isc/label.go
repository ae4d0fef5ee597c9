package isc

import (
	"slices"
	"strings"
)

// Source names where a value came from. It is written only by the hub.
type Source string

// The sources that are no app and no host.
const (
	SourceUser   Source = "user"
	SourceHub    Source = "hub"
	SourceMemory Source = "memory"
	SourceModel  Source = "model"
)

// AppSource is the source of everything that the app id returned.
func AppSource(id AppID) Source { return Source("app:" + string(id)) }

// App is the app that s stands for, if it stands for one.
func (s Source) App() (AppID, bool) {
	id, ok := strings.CutPrefix(string(s), "app:")
	return AppID(id), ok
}

// Label says where a value came from and how far it may be believed. The hub
// keeps it beside the value; no message carries one, so no spoke can set one.
//
// The zero Label is untrusted and has no source. Labels are immutable.
//
// Source: design, section 3; paper §III (apps and all they process are not
// trusted).
type Label struct {
	sources   string // sorted, joined by newlines, so that Labels compare with ==
	trusted   bool
	sensitive bool
}

// UserLabel is the label of what the user said.
func UserLabel() Label { return Label{sources: string(SourceUser), trusted: true} }

// HubLabel is the label of what the hub itself made: dates, statuses, counts.
func HubLabel() Label { return Label{sources: string(SourceHub), trusted: true} }

// AppLabel is the label of what the app id returned.
func AppLabel(id AppID) Label { return Label{sources: string(AppSource(id))} }

// Sensitive is l with the mark of private data set.
func (l Label) Sensitive() Label { l.sensitive = true; return l }

// From is l with source added. The mark of trust is kept only for the user and
// the hub.
func (l Label) From(source Source) Label {
	trusted := source == SourceUser || source == SourceHub
	return l.Join(Label{sources: string(source), trusted: trusted})
}

// IsTrusted says whether every source of the value is the user or the hub.
func (l Label) IsTrusted() bool { return l.trusted }

// IsSensitive says whether any part of the value is private data.
func (l Label) IsSensitive() bool { return l.sensitive }

// Sources are the sources of the value, sorted.
func (l Label) Sources() []Source {
	if l.sources == "" {
		return nil
	}
	parts := strings.Split(l.sources, "\n")
	out := make([]Source, len(parts))
	for i, p := range parts {
		out[i] = Source(p)
	}
	return out
}

// Apps are the apps among the sources, sorted.
func (l Label) Apps() []AppID {
	var out []AppID
	for _, s := range l.Sources() {
		if id, ok := s.App(); ok {
			out = append(out, id)
		}
	}
	return out
}

// Join is the label of a value made of both: all sources, trusted only if both
// are, sensitive if one is.
func (l Label) Join(m Label) Label {
	out := Label{trusted: l.trusted && m.trusted, sensitive: l.sensitive || m.sensitive}
	switch {
	case l.sources == m.sources || m.sources == "":
		out.sources = l.sources
	case l.sources == "":
		out.sources = m.sources
	case within(m.sources, l.sources):
		out.sources = l.sources
	case within(l.sources, m.sources):
		out.sources = m.sources
	default:
		all := append(strings.Split(l.sources, "\n"), strings.Split(m.sources, "\n")...)
		slices.Sort(all)
		out.sources = strings.Join(slices.Compact(all), "\n")
	}
	return out
}

// within says whether all of some sources are among others.
func within(some, others string) bool {
	for s := range strings.SplitSeq(some, "\n") {
		found := false
		for o := range strings.SplitSeq(others, "\n") {
			found = found || o == s
		}
		if !found {
			return false
		}
	}
	return true
}

// String is for logs and audit records: "app:mail,user untrusted".
func (l Label) String() string {
	s := strings.ReplaceAll(l.sources, "\n", ",")
	if s == "" {
		s = "nothing"
	}
	if l.trusted {
		s += " trusted"
	} else {
		s += " untrusted"
	}
	if l.sensitive {
		s += " sensitive"
	}
	return s
}
