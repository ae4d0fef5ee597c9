package hub

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/isolategpt/isolategpt/isc"
)

// SpokeReport tells what one spoke that lives now really runs in.
type SpokeReport struct {
	User string    `json:"user"`
	App  isc.AppID `json:"app,omitempty"` // empty: a vanilla spoke
	// Isolation was found out from inside the spoke, by whoever launched it.
	Isolation isc.Isolation `json:"isolation"`
}

// Report tells of every spoke that lives now, in all sessions, by user and app.
func (h *Hub) Report() []SpokeReport {
	h.mu.Lock()
	open := slices.Collect(maps.Keys(h.sessions))
	h.mu.Unlock()
	var out []SpokeReport
	for _, s := range open {
		out = append(out, s.Report()...)
	}
	return sortedReport(out)
}

// Report tells of every spoke of the session that lives now, idle or at work, by
// app.
func (s *Session) Report() []SpokeReport {
	s.mu.Lock()
	pools := append(slices.Collect(maps.Keys(s.private)), s.pool)
	s.mu.Unlock()
	var out []SpokeReport
	for _, p := range pools {
		for _, live := range p.spokes() {
			i := live.isolation
			i.Layers = slices.Clone(i.Layers)
			out = append(out, SpokeReport{User: s.user, App: live.key.app, Isolation: i})
		}
	}
	return sortedReport(out)
}

func sortedReport(out []SpokeReport) []SpokeReport {
	slices.SortFunc(out, func(a, b SpokeReport) int {
		return cmp.Or(strings.Compare(a.User, b.User), strings.Compare(string(a.App), string(b.App)))
	})
	return out
}

// spokes are those that live now.
func (p *pool) spokes() []*spokeConn {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Collect(maps.Keys(p.live))
}
