package hub

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/memory"
	"github.com/isolategpt/isolategpt/permission"
)

// SessionConfig says whose session it is.
type SessionConfig struct {
	// User owns the grants and the memory of the session. Required; a program
	// with one user may call them "me".
	User string
}

// Session is one person's use of a hub: warm spokes, session grants, the turns
// so far. It is safe for concurrent use. Nothing of one session reaches
// another, but what both may read: the hub's apps, and, for the same user, the
// permanent grants and the memory.
type Session struct {
	hub  *Hub
	id   string
	user string
	gate *permission.Session
	pool *pool
	view memory.View
	// crashes are of all its spokes, those of private runs, too.
	crashes crashes

	mu      sync.Mutex
	closed  bool
	private map[*pool]struct{} // of the private runs that go on
	runs    sync.WaitGroup
	turns   []string
	// recalled says that turns has what was said in earlier sessions.
	recalled bool
	given    map[isc.AppID]isc.Label
	used     map[isc.AppID]bool
	known    map[isc.AppID]bool // apps of which earlier sessions were recalled
	kept     map[isc.AppID]bool // apps of which memory says that they were given private data
}

// Session starts a session.
func (h *Hub) Session(cfg SessionConfig) (*Session, error) {
	if cfg.User == "" {
		return nil, errors.New("hub: session: no user; name whose session it is")
	}
	s := &Session{
		hub: h, id: rand.Text(), user: cfg.User, gate: h.gate.Session(cfg.User),
		crashes: crashes{limit: h.limits.Crashes}, private: map[*pool]struct{}{},
		given: map[isc.AppID]isc.Label{}, used: map[isc.AppID]bool{}, known: map[isc.AppID]bool{}, kept: map[isc.AppID]bool{},
	}
	s.pool = newPool(h.launcher(cfg.User, false), h.limits.Parallel, &s.crashes)
	if h.memory != nil {
		s.view = memory.NewView(h.memory, memory.HubScope(cfg.User))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, ErrClosed
	}
	h.sessions[s] = struct{}{}
	return s, nil
}

// Close ends the session: running requests are waited for, its spokes end, its
// session grants are void. Close is idempotent.
func (s *Session) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.runs.Wait()
	s.pool.close()
	s.gate.Close()
	s.hub.mu.Lock()
	delete(s.hub.sessions, s)
	s.hub.mu.Unlock()
	return nil
}

// Grants lists what was granted for this session or permanently.
func (s *Session) Grants(ctx context.Context) ([]permission.Grant, error) { return s.gate.Grants(ctx) }

// Revoke takes a grant back. It counts at once, for running requests too.
func (s *Session) Revoke(ctx context.Context, id string) error { return s.gate.Revoke(ctx, id) }

func (s *Session) begin(text string, opts []Option) (*run, error) {
	r := &run{hub: s.hub, session: s, id: rand.Text(), text: text, limits: s.hub.limits, pool: s.pool}
	for _, o := range opts {
		o(r)
	}
	if text == "" {
		return nil, errors.New("hub: run: an empty request")
	}
	if len(text) > maxRequest {
		return nil, errors.New("hub: run: a request over 64 KiB")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ErrClosed
	}
	s.runs.Add(1)
	r.budget = &budget{limits: r.limits}
	if r.private {
		r.pool = newPool(s.hub.launcher(s.user, true), r.limits.Parallel, &s.crashes)
		s.private[r.pool] = struct{}{}
	}
	r.gate = s.gate.Run(permission.RunConfig{MaxPrompts: r.limits.Prompts, OnAsk: func(q permission.Request) {
		if r.events != nil {
			select {
			case r.events <- Asked{Request: q}: // whoever reads sees it before the person answers
			case <-r.ended:
			}
		}
	}})
	return r, nil
}

// maxRequest bounds a request, in bytes.
const maxRequest = 64 << 10

func (s *Session) end(r *run) {
	if r.private {
		r.pool.close()
		s.mu.Lock()
		delete(s.private, r.pool)
		s.mu.Unlock()
	}
	s.runs.Done()
}

// note keeps that an app was used and what it was given, for the labels of what
// it says later.
func (s *Session) note(id isc.AppID, l isc.Label) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.given[id] = s.given[id].Join(l)
	s.used[id] = true
}

// givenKey names the record that an app was given private data, in any session.
// No entity has such a name: it is no identifier.
func givenKey(id isc.AppID) string { return "private data was given to " + string(id) }

// recallGiven brings in what earlier sessions gave the app: its memory outlives
// them. An app is asked about once in a session.
func (s *Session) recallGiven(ctx context.Context, id isc.AppID) (err error) {
	s.mu.Lock()
	known := s.known[id]
	s.mu.Unlock()
	if known {
		return nil
	}
	defer contain("memory", &err)
	// Without the lock: a memory that blocks must not hold up the session.
	records, err := s.view.Records(ctx, memory.Query{Kind: memory.Entity, Key: givenKey(id), Last: 1})
	if err != nil {
		return fmt.Errorf("hub: memory: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(records) > 0 {
		s.given[id] = s.given[id].Join(isc.HubLabel().Sensitive())
		s.kept[id] = true
	}
	s.known[id] = true
	return nil
}

// keepGiven records that the app was given private data, before it is given.
func (s *Session) keepGiven(ctx context.Context, id isc.AppID, l isc.Label) (err error) {
	s.mu.Lock()
	kept := s.kept[id] // what a private run gave is in no memory
	s.mu.Unlock()
	if !l.IsSensitive() || kept {
		return nil
	}
	defer contain("memory", &err)
	err = s.view.Append(ctx, memory.Record{
		Kind: memory.Entity, Key: givenKey(id), Value: json.RawMessage("true"), Label: isc.HubLabel(), Time: time.Now(),
	})
	if err != nil {
		return fmt.Errorf("hub: memory: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept[id] = true
	return nil
}

// seen joins the labels of all that an app was given in this session.
func (s *Session) seen(id isc.AppID) isc.Label {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.given[id]
}

// keepTurns is how many of the person's last requests planning sees.
const keepTurns = 8

func (s *Session) addTurn(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turns = append(s.turns, text)
	if len(s.turns) > keepTurns {
		s.turns = s.turns[len(s.turns)-keepTurns:]
	}
}

// recentTurns are the person's last requests, in this session and, as far as
// the hub remembers them, before it.
func (s *Session) recentTurns(ctx context.Context) ([]string, error) {
	s.mu.Lock()
	recalled := s.recalled
	s.mu.Unlock()
	var before []string
	if !recalled { // without the lock: a memory that blocks must not hold up the session
		var err error
		if before, err = earlierTurns(ctx, s.view); err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.recalled {
		s.turns = append(before, s.turns...)
		s.recalled = true
	}
	return append([]string(nil), s.turns[max(0, len(s.turns)-keepTurns):]...), nil
}

// earlierTurns reads the requests, and only those, from the hub's memory: the
// answers hold what apps said.
func earlierTurns(ctx context.Context, view memory.View) (out []string, err error) {
	defer contain("memory", &err)
	records, err := view.Records(ctx, memory.Query{Kind: memory.Turn, Last: keepTurns})
	if err != nil {
		return nil, fmt.Errorf("hub: memory: %w", err)
	}
	for _, r := range records {
		var t turn
		if isc.Unmarshal(r.Value, &t) == nil && t.Request != "" {
			out = append(out, t.Request)
		}
	}
	return out, nil
}

// warnings are what only the session knows about a question.
func (s *Session) warnings(q permission.Question) []permission.Code {
	s.mu.Lock()
	defer s.mu.Unlock()
	var codes []permission.Code
	if !s.used[q.To.ID] && q.Kind != permission.SelectApp {
		codes = append(codes, permission.CodeFirstUse)
	}
	changes := q.Effect != isc.Read || q.Kind == permission.SendRemote ||
		slices.ContainsFunc(q.Fields, func(f permission.PayloadField) bool { return f.Role == isc.Destination })
	if changes && !q.Label.IsTrusted() && q.Label.IsSensitive() {
		codes = append(codes, permission.CodeRuleOfTwo)
	}
	return codes
}
