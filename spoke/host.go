package spoke

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/memory"
)

// What a spoke may remember and recall.
const (
	maxRecordBytes = 64 << 10
	maxKeyBytes    = 256
	maxChanges     = 16 // of memory in a task
	maxRecalled    = 64 // records of one query
)

// host is the host side of a spoke: the hub's half of what the spoke is given,
// a model, a memory and remote hosts. It stands outside the spoke, so that keys
// stay there and bounds hold whatever the spoke does. It serves only while a
// task runs, and no memory while a private one does.
type host struct {
	manifest isc.Manifest // empty for a vanilla spoke
	model    llm.LLM      // nil if the spoke has none
	view     memory.View
	http     Fetcher // nil if the spoke has no remote host
	limits   Limits

	mu      sync.Mutex
	running bool    // a task runs
	task    int     // how many there were
	bound   Limits  // of the running task
	metered llm.LLM // the model under the running task's budget; nil until it is used
	private bool
	changes int // of memory in this task
	fetches int // requests to remote hosts in this task
	pace    hostPace
	// leave ends the request to a remote host that is under way; nil if none is.
	leave context.CancelCauseFunc
}

func newHost(s Spec) (*host, error) {
	m, err := manifestOf(s.App)
	if err != nil {
		return nil, err
	}
	h := &host{manifest: m, view: s.Memory, http: s.HTTP, limits: s.Limits.orDefault(), pace: newHostPace()}
	if s.LLM != nil {
		h.model = llm.Safe(s.LLM)
	}
	return h, nil
}

// spec is s with model, memory and remote hosts reached through h.
func (h *host) spec(s Spec) Spec {
	s.LLM = nil
	if h.model != nil {
		s.LLM = hostModel{h}
	}
	s.Memory = memory.NewView(hostMemory{h}, memory.AppScope("spoke", "spoke"))
	s.HTTP = hostFetcher{h}
	s.Limits = h.limits
	return s
}

func (h *host) begin(task isc.Task) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.running, h.bound, h.metered = true, h.limits.forTask(task), nil
	h.task++
	h.private, h.changes, h.fetches = task.Private, 0, 0
	h.pace.begin()
}

// modelOrNone is the model, or one whose every call fails.
func (h *host) modelOrNone() llm.LLM {
	if h.model == nil {
		return llm.Safe(nil)
	}
	return h.model
}

func (h *host) finish() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.running, h.metered = false, nil
	if h.leave != nil {
		h.leave(errNoTask)
	}
}

// meter is the model under the running task's budget, or nil between tasks.
func (h *host) meter() llm.LLM {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.running && h.metered == nil {
		budget := llm.NewBudget(llm.BudgetConfig{MaxCalls: h.bound.MaxTurns, MaxTokens: h.bound.MaxTokens})
		h.metered = budget.Wrap(h.modelOrNone())
	}
	return h.metered
}

// hostModel is the spoke's model, metered. It serves while a task runs.
type hostModel struct{ host *host }

func (m hostModel) Capabilities() llm.Capabilities { return llm.CapabilitiesOf(m.host.model) }

func (m hostModel) Generate(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	model := m.host.meter()
	if model == nil {
		return nil, &llm.Error{Kind: llm.OverBudget, Err: errors.New("no task runs")}
	}
	return model.Generate(ctx, req)
}

// hostMemory is the spoke's own scope, whatever scope is named. What the spoke
// remembers is labelled as its word, at the host's time.
type hostMemory struct{ host *host }

var errNoMemory = errors.New("spoke: memory is not served now")

func (m hostMemory) Append(ctx context.Context, _ memory.Scope, r memory.Record) error {
	h := m.host
	switch {
	case r.Kind != memory.Turn && r.Kind != memory.Summary && r.Kind != memory.Entity:
		return errors.New("spoke: memory: unknown kind of record")
	case len(r.Value) > maxRecordBytes || len(r.Key) > maxKeyBytes || !json.Valid(r.Value):
		return errors.New("spoke: memory: the record is too long or not JSON")
	case !h.mayRemember(true):
		return errNoMemory
	}
	r.Label, r.Time = h.label(), time.Now()
	_, err := contain(func() (struct{}, error) { return struct{}{}, h.view.Append(ctx, r) })
	return err
}

// label is that of what the spoke says: its app's, or, without an app, its
// model's.
func (h *host) label() isc.Label {
	if h.manifest.ID == "" {
		return isc.Label{}.From(isc.SourceModel)
	}
	return isc.AppLabel(h.manifest.ID)
}

func (m hostMemory) Records(ctx context.Context, _ memory.Scope, q memory.Query) ([]memory.Record, error) {
	if !m.host.mayRemember(false) {
		return nil, errNoMemory
	}
	if q.Last <= 0 || q.Last > maxRecalled {
		q.Last = maxRecalled
	}
	return contain(func() ([]memory.Record, error) { return m.host.view.Records(ctx, q) })
}

func (m hostMemory) Forget(ctx context.Context, _ memory.Scope, q memory.Query) (int, error) {
	if !m.host.mayRemember(true) {
		return 0, errNoMemory
	}
	return contain(func() (int, error) { return m.host.view.Forget(ctx, q) })
}

// mayRemember says whether memory is served, and counts what changes it.
func (h *host) mayRemember(changes bool) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.running || h.private || changes && h.changes >= maxChanges {
		return false
	}
	if changes {
		h.changes++
	}
	return true
}
