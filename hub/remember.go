package hub

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/memory"
	"github.com/isolategpt/isolategpt/planner"
)

// remembering is what a run knows of the person, read once, and what it learned.
type remembering struct {
	once  sync.Once
	known map[string]labelled
	err   error

	mu      sync.Mutex
	learned map[string]json.RawMessage
}

// entities are what the hub remembers of the person, by name. A private run
// remembers nothing; a memory that fails has nothing to give.
func (r *run) entities(ctx context.Context) map[string]labelled {
	known, err := r.readMemory(ctx)
	if err != nil {
		r.hub.logger.Warn("memory unreadable", "session", r.session.id)
		return nil
	}
	return known
}

// memoryKeys are the names that planning may see. Names of data are chosen by
// apps, in their manifests, so only those pass that are ours or vouched for.
func (r *run) memoryKeys(ctx context.Context) ([]string, error) {
	known, err := r.readMemory(ctx)
	if err != nil {
		return nil, fmt.Errorf("hub: memory: %w", err)
	}
	keys := slices.Sorted(maps.Keys(known))
	return slices.DeleteFunc(keys, func(key string) bool { return !r.registry().vouchesFor(key) }), nil
}

// readMemory reads the hub's own scope. Only what the person said is given out
// by name: what an app said about them stays a record of that app.
func (r *run) readMemory(ctx context.Context) (map[string]labelled, error) {
	if r.private {
		return nil, nil
	}
	m := &r.memory
	m.once.Do(func() {
		defer contain("memory", &m.err)
		records, err := r.session.view.Records(ctx, memory.Query{Kind: memory.Entity})
		if err != nil {
			m.err = err
			return
		}
		m.known = make(map[string]labelled, len(records))
		for _, rec := range records {
			if canonical, err := isc.Canonical(rec.Value); err == nil && rec.Label.IsTrusted() && isEntityName(rec.Key) {
				m.known[rec.Key] = labelled{json: canonical, label: rec.Label.From(isc.SourceUser), free: true}
			}
		}
	})
	return m.known, m.err
}

// isEntityName says whether a key is a name, as those of entities are. The
// hub's own marks are none.
func isEntityName(key string) bool { return key != "" && !strings.ContainsAny(key, " \t\r\n") }

// recall is what a plan's memory key stands for.
func (r *run) recall(ctx context.Context, key string) (labelled, bool) {
	if key == planner.Today {
		return today(time.Now()), true
	}
	v, ok := r.entities(ctx)[key]
	return v, ok
}

// learn notes what the person said under a name that an app declared to need,
// so that it can be offered, with consent, when it is needed again. Nothing
// that an app said is learned.
func (r *run) learn(name string, v labelled) {
	if r.private || !isEntityName(name) || !v.label.IsTrusted() {
		return
	}
	r.memory.mu.Lock()
	defer r.memory.mu.Unlock()
	if r.memory.learned == nil {
		r.memory.learned = map[string]json.RawMessage{}
	}
	r.memory.learned[name] = v.json
}

// learnFrom learns from the arguments of a call those that the app's manifest
// says are data of the person.
func (r *run) learnFrom(app isc.AppID, args map[string]labelled) {
	m, ok := r.registry().manifest(app)
	if !ok {
		return
	}
	for _, need := range m.Needs {
		if v, ok := args[need.Name]; ok {
			r.learn(need.Name, v)
		}
	}
}

// turn is one request and its answer as they are kept.
type turn struct {
	Request string `json:"request"`
	Answer  string `json:"answer"`
}

// remember stores the turn and what was learned in the hub's scope. Summaries
// are made elsewhere, off the person's path.
func (r *run) remember(ctx context.Context, a Answer) (err error) {
	if r.private {
		return nil
	}
	r.session.addTurn(r.text)
	if r.hub.memory == nil {
		return nil
	}
	defer contain("memory", &err)
	said, err := json.Marshal(turn{r.text, a.Text})
	if err != nil {
		return fmt.Errorf("hub: memory: %w", err)
	}
	t := time.Now()
	records := []memory.Record{{Kind: memory.Turn, Value: said, Label: a.Label, Time: t}}
	r.memory.mu.Lock()
	for _, name := range slices.Sorted(maps.Keys(r.memory.learned)) {
		records = append(records, memory.Record{
			Kind: memory.Entity, Key: name, Value: r.memory.learned[name], Label: isc.UserLabel().Sensitive(), Time: t,
		})
	}
	r.memory.mu.Unlock()
	for _, rec := range records {
		if err := r.session.view.Append(ctx, rec); err != nil {
			return fmt.Errorf("hub: memory: %w", err)
		}
	}
	return nil
}
