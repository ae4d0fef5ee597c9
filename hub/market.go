package hub

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/planner"
)

func (h *Hub) listMarket() (market []isc.Manifest, err error) {
	if h.cfg.Catalogue == nil {
		return nil, nil
	}
	defer contain("catalogue", &err)
	ctx, cancel := context.WithTimeout(context.Background(), listTimeout)
	defer cancel()
	if market, err = h.cfg.Catalogue.List(ctx); err != nil {
		return nil, fmt.Errorf("hub: catalogue: %w", err)
	}
	return market, nil
}

// listTimeout bounds the listing of the catalogue.
const listTimeout = 30 * time.Second

// soundMarket leaves out of the market what does not validate and what could be
// taken for another app or functionality, so that no listed app can keep a hub
// from starting. Of two that look alike and are only listed, neither is kept.
func (h *Hub) soundMarket(installed, market []isc.Manifest) []isc.Manifest {
	drop := func(m isc.Manifest, why string) {
		h.logger.Warn("not listed", "app", isc.Visible(string(m.ID)), "reason", why)
	}
	listed := map[isc.AppID]int{}
	for _, m := range market {
		if m.Validate() == nil {
			listed[m.ID]++
		}
	}
	sound := slices.DeleteFunc(slices.Clone(market), func(m isc.Manifest) bool {
		bad := listed[m.ID] != 1 || m.Validate() != nil
		if bad {
			drop(m, "invalid, or listed twice")
		}
		return bad
	})
	for {
		// Beside what is installed, and, since spokes are shown all of the market,
		// by itself.
		_, err := planner.NewCatalogue(planner.CatalogueConfig{Manifests: installed, Known: h.cfg.Known, Market: notIn(sound, installed)})
		alone := err == nil
		if alone {
			_, err = planner.NewCatalogue(planner.CatalogueConfig{Known: h.cfg.Known, Market: sound})
		}
		twins, ok := errors.AsType[*planner.LookAlikeError](err)
		if !ok {
			return sound // what else is wrong is not of the market, and is told by the registry
		}
		before := len(sound)
		sound = slices.DeleteFunc(sound, func(m isc.Manifest) bool {
			here := slices.ContainsFunc(installed, func(i isc.Manifest) bool { return i.ID == m.ID })
			looks := (alone || !here) && (resembles(m, twins.A) || resembles(m, twins.B))
			if looks {
				drop(m, "looks like another")
			}
			return looks
		})
		if len(sound) == before {
			return sound
		}
	}
}

func notIn(some, others []isc.Manifest) []isc.Manifest {
	return slices.DeleteFunc(slices.Clone(some), func(m isc.Manifest) bool {
		return slices.ContainsFunc(others, func(o isc.Manifest) bool { return o.ID == m.ID })
	})
}

// resembles says whether a name is the app's id or display name, or that of one of
// its functionalities.
func resembles(m isc.Manifest, name string) bool {
	const told = 80 // bytes of a long display name that an error tells
	_, has := m.Find(isc.FunctionalityName(name))
	long := len(m.Name) > told && strings.HasPrefix(name, m.Name[:told])
	return has || string(m.ID) == name || m.Name == name || long
}
