package hub

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/memory"
	"github.com/isolategpt/isolategpt/permission"
	"github.com/isolategpt/isolategpt/planner"
	"github.com/isolategpt/isolategpt/spoke"
)

// Config is what a [Hub] composes. LLM and Launcher are required.
type Config struct {
	// LLM plans, serves vanilla spokes, and works for each app that has no model
	// of its own in Models.
	LLM llm.LLM
	// Launcher starts spokes. There is no default: [spoke.InProcess] isolates
	// nothing but contexts, and choosing it is said by name. The hub does not close
	// it.
	Launcher spoke.Launcher
	// Apps are installed from the start.
	Apps []spoke.App
	// Consent asks the person. Nil: everything that would be asked is denied.
	Consent permission.ConsentPrompter
	// Policy says what is asked. Nil means [permission.Balanced].
	Policy permission.Policy
	// Grants keeps permanent permissions. Nil keeps them in memory.
	Grants permission.Store
	// Memory keeps what the hub and the spokes remember. Nil remembers nothing.
	Memory memory.Memory
	// Asker puts questions for missing data to the person. Nil: what is missing
	// stands in [Answer.Missing].
	Asker Asker
	// Catalogue is where apps can be installed from. Nil: from nowhere.
	Catalogue Catalogue
	// Known are functionalities whose definitions the program vouches for,
	// whoever serves them. Spokes may know of them whatever is installed.
	Known []isc.Functionality
	// Models are specialised models by app.
	Models map[isc.AppID]llm.LLM
	// Vanilla are specialised spokes without an app, such as one with a medical
	// model.
	Vanilla []Vanilla
	// Planner replaces the planner over LLM.
	Planner planner.Planner
	// Audit keeps the trail. Nil keeps none.
	Audit Audit
	// HTTP sends the requests of apps to remote hosts, each after the person was
	// asked about its host; package spoke/egress has one. Nil: no app reaches a
	// host. The hub does not close it.
	HTTP spoke.Fetcher
	// Waive says what the spokes of these apps of Catalogue may lack of
	// [isc.FullIsolation]. What Launcher demands by itself is not lowered: waive it
	// there as well. Of an app in Apps the hub requires nothing: what it lacks is
	// for Launcher to say by name.
	Waive map[isc.AppID]isc.Guarantees
	// Limits bound each run.
	Limits Limits
	// Logger is told of lifecycle and refusals, never of texts. Nil is silent.
	Logger *slog.Logger
}

// Vanilla is a spoke without an app that has a model of its own.
type Vanilla struct {
	Name        string // what a plan calls it
	Description string // what it is good for
	LLM         llm.LLM
}

// Catalogue is where apps can be installed from. What it lists is public:
// spokes may know of these functionalities whether or not they are installed.
type Catalogue interface {
	// List is asked once, when the hub is made.
	List(ctx context.Context) ([]isc.Manifest, error)
	// Open returns the app, whose manifest must be the one that was listed.
	Open(ctx context.Context, id isc.AppID) (spoke.App, error)
}

// Hub runs the requests of its sessions. It is safe for concurrent use.
type Hub struct {
	cfg        Config
	planner    planner.Planner
	gate       *permission.Gate
	memory     memory.Memory
	asker      Asker
	people     people
	formats    formats
	limits     Limits
	logger     *slog.Logger
	trail      trail
	registry   atomic.Pointer[registry]
	installing sync.Mutex

	isolations isolations

	mu       sync.Mutex
	apps     map[isc.AppID]spoke.App
	opened   map[isc.AppID]bool // those of apps that came from the catalogue
	sessions map[*Session]struct{}
	closed   bool
}

// New checks and composes cfg. Nothing runs before the first request.
//
// Errors name the field that is missing or the app that does not validate:
// apps whose ids look alike are refused together, whatever their order.
func New(cfg Config) (*Hub, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	cfg = cfg.copied()
	h := &Hub{
		cfg: cfg, planner: cfg.Planner, memory: cfg.Memory, asker: cfg.Asker, limits: cfg.Limits.withDefaults(),
		logger: cfg.Logger, trail: newTrail(cfg.Audit), apps: map[isc.AppID]spoke.App{}, opened: map[isc.AppID]bool{}, sessions: map[*Session]struct{}{},
		isolations: newIsolations(probeOf(cfg.Launcher)),
	}
	var err error
	if h.gate, err = permission.NewGate(permission.Config{
		Prompter: h.people.prompter(cfg.Consent), Store: cfg.Grants, Policy: cfg.Policy, Timeout: h.limits.Prompt,
	}); err != nil {
		return nil, fmt.Errorf("hub: config: %w", err)
	}
	if h.planner == nil {
		if h.planner, err = planner.New(planner.Config{LLM: metered{llm.Safe(cfg.LLM), nil}}); err != nil {
			return nil, fmt.Errorf("hub: config: %w", err)
		}
	}
	var installed []isc.Manifest
	for _, app := range cfg.Apps {
		m, err := manifestOf(app)
		if err != nil {
			return nil, err
		}
		installed = append(installed, m)
		h.apps[m.ID] = app
	}
	market, err := h.listMarket()
	if err != nil {
		return nil, err
	}
	if err := cfg.checkWaive(installed, market); err != nil {
		return nil, err
	}
	market = h.soundMarket(installed, market)
	var vanilla []planner.Vanilla
	for _, v := range cfg.Vanilla {
		vanilla = append(vanilla, planner.Vanilla{Name: v.Name, Description: v.Description})
	}
	reg, err := newRegistry(installed, market, cfg.Known, vanilla)
	if err != nil {
		return nil, err
	}
	for id := range cfg.Models {
		if reg.installed[id].ID == "" && reg.market[id].ID == "" {
			return nil, fmt.Errorf("hub: config: Models has a model for %q, which is no app of Apps or Catalogue", id)
		}
	}
	h.registry.Store(reg)
	return h, nil
}

func (cfg Config) check() error {
	switch {
	case cfg.LLM == nil:
		return errors.New("hub: config: LLM is missing: give the model that plans, of llm/openai, llm/langchain or your own")
	case cfg.Launcher == nil:
		return errors.New("hub: config: Launcher is missing; spoke.Process(spoke.ProcessConfig{}) or, isolating nothing, spoke.InProcess()")
	}
	for _, v := range cfg.Vanilla {
		if v.Name == "" || v.LLM == nil {
			return fmt.Errorf("hub: config: vanilla spoke %q lacks a name or a model", v.Name)
		}
	}
	return cfg.Limits.validate()
}

func (cfg Config) copied() Config {
	cfg.Apps = slices.Clone(cfg.Apps)
	cfg.Known = slices.Clone(cfg.Known)
	cfg.Vanilla = slices.Clone(cfg.Vanilla)
	cfg.Models = maps.Clone(cfg.Models)
	cfg.Waive = maps.Clone(cfg.Waive)
	if cfg.Policy == nil {
		cfg.Policy = permission.Balanced()
	}
	if cfg.Grants == nil {
		cfg.Grants = permission.InMemoryStore()
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return cfg
}

// manifestOf is the manifest of an app, which may panic.
func manifestOf(app spoke.App) (m isc.Manifest, err error) {
	if app == nil {
		return m, errors.New("hub: config: an app is nil")
	}
	defer contain("app", &err)
	m = app.Manifest().Clone()
	if err := m.Validate(); err != nil {
		return m, fmt.Errorf("hub: app %s: %w", m.ID, err)
	}
	return m, nil
}

// fetch opens an app of the catalogue. Calling add makes it launchable.
func (h *Hub) fetch(ctx context.Context, id isc.AppID) (m isc.Manifest, add func(), err error) {
	defer contain("catalogue", &err)
	if h.cfg.Catalogue == nil {
		return m, nil, ErrUnknownApp
	}
	app, err := h.cfg.Catalogue.Open(ctx, id)
	if err != nil {
		return m, nil, err
	}
	if m, err = manifestOf(app); err != nil {
		return m, nil, err
	}
	return m, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.apps[id], h.opened[id] = app, true
	}, nil
}

// launcher starts the spokes of user's sessions.
func (h *Hub) launcher(user string, private bool) launchFunc {
	return func(ctx context.Context, key spokeKey, l *lease) (*spokeConn, error) {
		spec := spoke.Spec{
			LLM:    metered{llm.Safe(h.modelFor(key)), &l.budget},
			Limits: spoke.Limits{MaxTurns: h.limits.TaskTurns, MaxCalls: h.limits.TaskCalls, MaxTokens: h.limits.TaskTokens},
		}
		if key.app != "" {
			if err := h.describe(&spec, key.app, l); err != nil {
				return nil, err
			}
			if !private && h.memory != nil {
				spec.Memory = memory.NewView(h.memory, memory.AppScope(user, key.app))
			}
		}
		instance, err := h.cfg.Launcher.Launch(ctx, spec)
		if err != nil {
			return nil, err
		}
		if missing := spec.Require.Without(instance.Isolation.Has); missing != 0 { // whatever the launcher made of it
			return nil, errors.Join(&spoke.UnmetError{App: key.app, Isolation: instance.Isolation, Missing: missing}, instance.Conn.Close())
		}
		h.noteIsolation(key.app, instance.Isolation)
		return &spokeConn{conn: instance.Conn, isolation: instance.Isolation}, nil
	}
}

// describe fills in what an app's spoke is made of, and what is required of it:
// everything for one that came from the catalogue, but for what is waived.
func (h *Hub) describe(spec *spoke.Spec, id isc.AppID, l *lease) error {
	h.mu.Lock()
	app, opened := h.apps[id], h.opened[id]
	h.mu.Unlock()
	if app == nil {
		return ErrUnknownApp
	}
	spec.App = app
	if opened {
		spec.Require, spec.Prefer = isc.FullIsolation.Without(h.cfg.Waive[id]), isc.DefenceInDepth
	}
	if m, _ := h.registry.Load().manifest(id); h.cfg.HTTP != nil && len(m.Hosts) > 0 {
		spec.HTTP = wayOut{h, l}
	}
	return nil
}

// wayOut is the way of one spoke to remote hosts.
type wayOut struct {
	hub   *Hub
	lease *lease
}

var _ spoke.Authorizer = wayOut{}

func (w wayOut) Fetch(ctx context.Context, r spoke.HTTPRequest) (spoke.HTTPResponse, error) {
	return w.hub.send(ctx, w.lease, r)
}

// Authorize lets one connection out whose content the hub does not see.
func (w wayOut) Authorize(ctx context.Context, host string) error {
	let := func(context.Context, string) (remoteReply, error) { return remoteReply{}, nil }
	if w.lease.fetch(ctx, connectionTo(host), let) != nil {
		return spoke.ErrRefused
	}
	return nil
}

// send brings a request of a spoke to a remote host, if the run that the spoke
// works for lets it.
func (h *Hub) send(ctx context.Context, l *lease, r spoke.HTTPRequest) (res spoke.HTTPResponse, err error) {
	err = l.fetch(ctx, remoteRequest{method: r.Method, url: r.URL, header: r.Header, body: r.Body}, func(ctx context.Context, address string) (n remoteReply, err error) {
		defer contain("http", &err)
		r.URL = address // what was shown
		res, err = h.cfg.HTTP.Fetch(ctx, r)
		return remoteReply{res.Status, len(res.Body)}, err
	})
	switch {
	case err == nil:
		return res, nil
	case errors.Is(err, errNotSent), errors.Is(err, spoke.ErrRefused):
		return spoke.HTTPResponse{}, spoke.ErrRefused
	default: // the cause may tell of addresses and keys
		return spoke.HTTPResponse{}, errSendFailed
	}
}

// isBarred says whether nothing was tried to start a spoke: there is no such app,
// or it may not run in what there is. That is no crash.
func isBarred(err error) bool {
	_, unmet := errors.AsType[*spoke.UnmetError](err)
	return unmet || errors.Is(err, ErrUnknownApp)
}

// probeOf is how to ask a launcher what its spokes will run in, or nil.
func probeOf(l spoke.Launcher) probeFunc {
	if p, ok := l.(spoke.Prober); ok {
		return p.Probe
	}
	return nil
}

func (h *Hub) modelFor(key spokeKey) llm.LLM {
	for _, v := range h.cfg.Vanilla {
		if key.app == "" && key.vanilla == v.Name {
			return v.LLM
		}
	}
	if m := h.cfg.Models[key.app]; m != nil && key.app != "" {
		return m
	}
	return h.cfg.LLM
}

// Apps are the manifests of the installed apps, sorted by id.
func (h *Hub) Apps() []isc.Manifest {
	out := sorted(h.registry.Load().installed)
	for i := range out {
		out[i] = out[i].Clone()
	}
	return out
}

// Close closes all sessions. Requests that still run are waited for. Close is
// idempotent.
func (h *Hub) Close() error {
	h.mu.Lock()
	h.closed = true
	open := slices.Collect(maps.Keys(h.sessions))
	h.mu.Unlock()
	var errs []error
	for _, s := range open {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// metered counts a model's calls against the budget of the run that they are
// made for: the spoke's current one, or, for the planner, the one in ctx.
type metered struct {
	llm.LLM
	spoke *atomic.Pointer[budget]
}

type budgetKey struct{}

// meter binds the calls that a planner makes with ctx to a run.
func meter(ctx context.Context, b *budget) context.Context {
	return context.WithValue(ctx, budgetKey{}, b)
}

// Generate refuses a call that no run pays for.
func (m metered) Generate(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	b, _ := ctx.Value(budgetKey{}).(*budget)
	if m.spoke != nil {
		b = m.spoke.Load()
	}
	if b == nil {
		return nil, &llm.Error{Kind: llm.OverBudget, Err: errors.New("no run is going on")}
	}
	if err := b.modelCall(); err != nil {
		return nil, &llm.Error{Kind: llm.OverBudget, Err: err}
	}
	res, err := m.LLM.Generate(ctx, req)
	if err == nil {
		b.tokens.Add(int64(res.Usage.InputTokens + res.Usage.OutputTokens))
	}
	return res, err
}

// Capabilities are those of the model.
func (m metered) Capabilities() llm.Capabilities { return llm.CapabilitiesOf(m.LLM) }
