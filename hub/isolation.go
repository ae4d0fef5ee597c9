package hub

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/permission"
)

// probeFunc tells what spokes will run in, before there is one.
type probeFunc func(ctx context.Context) (isc.Isolation, error)

// probeTimeout bounds one probe.
const probeTimeout = 15 * time.Second

// isolations are what the hub knows of where spokes run, so that dialogs can
// tell. Nothing is decided by it. It is safe for concurrent use.
type isolations struct {
	probe probeFunc     // nil: nobody can tell before
	turn  chan struct{} // holds one while it is probed

	mu     sync.Mutex
	usual  *isc.Isolation // of spokes yet to be started; nil: not known
	probed bool
	known  map[isc.AppID]isc.Isolation
	warned map[isc.AppID]bool
}

func newIsolations(probe probeFunc) isolations {
	return isolations{probe: probe, turn: make(chan struct{}, 1), known: map[isc.AppID]isc.Isolation{}, warned: map[isc.AppID]bool{}}
}

// of is what the app's last spoke ran in.
func (i *isolations) of(id isc.AppID) (isc.Isolation, bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	got, ok := i.known[id]
	return got, ok
}

// expected is what a spoke will run in, as far as the launcher can tell. It is
// asked once.
func (i *isolations) expected(ctx context.Context) (isc.Isolation, bool) {
	if i.probe == nil {
		return isc.Isolation{}, false
	}
	select {
	case i.turn <- struct{}{}:
		defer func() { <-i.turn }()
	case <-ctx.Done():
		return isc.Isolation{}, false
	}
	i.mu.Lock()
	usual, probed := i.usual, i.probed
	i.mu.Unlock()
	if !probed {
		got, err := i.ask(ctx)
		if ctx.Err() != nil {
			return isc.Isolation{}, false // the next one asks again
		}
		if err == nil {
			usual = &got
		}
		i.mu.Lock()
		i.usual, i.probed = usual, true
		i.mu.Unlock()
	}
	if usual == nil {
		return isc.Isolation{}, false
	}
	return *usual, true
}

func (i *isolations) ask(ctx context.Context) (got isc.Isolation, err error) {
	defer contain("launcher", &err)
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	return i.probe(ctx)
}

// note keeps what a spoke runs in and says whether it is the first of its app
// that lacks something.
func (i *isolations) note(id isc.AppID, got isc.Isolation, lacking string) (first bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.known[id] = got
	first = lacking != "" && !i.warned[id]
	i.warned[id] = i.warned[id] || first
	return first
}

// noteIsolation keeps and logs what a spoke runs in; one of an app, or, without
// one, a vanilla spoke.
func (h *Hub) noteIsolation(id isc.AppID, got isc.Isolation) {
	h.logger.Info("spoke launched", "app", string(id), "kind", got.Name)
	if id == "" {
		return // its code is this library's
	}
	lacking := h.lacking(id, got)
	if h.isolations.note(id, got, lacking) {
		h.logger.Warn("spoke not fully isolated", "app", string(id), "kind", got.Name, "lacks", lacking)
	}
}

// lacking says in words what an app's isolation lacks: of what is preferred, and
// of what code needs that may be an attacker's. An app of the program's own for
// which it vouches, and which it chose to run inside itself, lacks nothing.
func (h *Hub) lacking(id isc.AppID, got isc.Isolation) string {
	if got.Has == 0 && h.vouched(id) {
		return ""
	}
	return got.Preferring(got.Lacks).Degraded() // whatever the launcher made of it
}

// vouched says whether the app is one of Config.Apps, and vouched for.
func (h *Hub) vouched(id isc.AppID) bool {
	m, installed := h.registry.Load().manifest(id)
	h.mu.Lock()
	defer h.mu.Unlock()
	return installed && m.Vouched && !h.opened[id]
}

// degraded is what a dialog tells of where q's receiver runs. Before its first
// spoke it is what the launcher expects, which is asked only if a person will be.
func (r *run) degraded(ctx context.Context, q permission.Question) string {
	if q.To.ID == "" || q.To.ID == isc.Vanilla {
		return ""
	}
	h := r.hub
	if got, ok := h.isolations.of(q.To.ID); ok {
		return h.lacking(q.To.ID, got)
	}
	if h.cfg.Consent == nil || h.isolations.probe == nil {
		return ""
	}
	if e := permission.Explain(h.cfg.Policy, q).Effect; e != permission.RuleAsk && e != permission.RuleAskEach {
		return ""
	}
	if got, ok := h.isolations.expected(ctx); ok {
		return h.lacking(q.To.ID, got)
	}
	return ""
}

// checkWaive holds that what is waived is a guarantee, of an app that there is.
func (cfg Config) checkWaive(installed, market []isc.Manifest) error {
	known := map[isc.AppID]bool{}
	for _, m := range append(installed[:len(installed):len(installed)], market...) {
		known[m.ID] = true
	}
	for id, waived := range cfg.Waive {
		if !known[id] {
			return fmt.Errorf("hub: config: Waive names %q, which is no app of Apps or Catalogue", id)
		}
		if odd := waived.Without(isc.FullIsolation); odd != 0 {
			return fmt.Errorf("hub: config: Waive of %s: %s is not required of any app", id, odd)
		}
	}
	return nil
}
