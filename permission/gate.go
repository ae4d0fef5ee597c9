package permission

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/isolategpt/isolategpt/isc"
)

// DefaultTimeout bounds one prompt where [Config] says nothing.
const DefaultTimeout = 2 * time.Minute

// Config is what a [Gate] is made of.
type Config struct {
	// Prompter asks the person. Nil: what would be asked is denied, with the
	// reason that there is no prompter.
	Prompter ConsentPrompter
	// Store keeps permanent grants. Nil is an error from [NewGate].
	Store Store
	// Policy decides what is asked. Nil is an error from [NewGate].
	Policy Policy
	// Timeout bounds one prompt. Zero means two minutes.
	Timeout time.Duration
}

// Gate decides, for all sessions of one hub, whether something may happen. It
// shows each user one prompt at a time. It is safe for concurrent use.
type Gate struct {
	cfg   Config
	queue *queues
	used  *usedIDs
}

// NewGate makes a gate. A missing store or policy and a negative timeout are
// errors: there is no default for either.
func NewGate(cfg Config) (*Gate, error) {
	switch {
	case cfg.Store == nil:
		return nil, errors.New("permission: gate: no store (InMemoryStore keeps grants until the program ends)")
	case cfg.Policy == nil:
		return nil, errors.New("permission: gate: no policy (Balanced is the usual one)")
	case cfg.Timeout < 0:
		return nil, fmt.Errorf("permission: gate: timeout %v is negative", cfg.Timeout)
	case cfg.Timeout == 0:
		cfg.Timeout = DefaultTimeout
	}
	return &Gate{cfg: cfg, queue: newQueues(), used: &usedIDs{}}, nil
}

// Session is the gate of one user's session: it holds the session grants. It is
// safe for concurrent use.
type Session struct {
	gate *Gate
	user string

	mu     sync.Mutex
	closed bool
	grants []Grant
	denied map[isc.Digest]bool
}

// Session starts the session of user. With an empty user everything is denied.
func (g *Gate) Session(user string) *Session {
	return &Session{gate: g, user: user, denied: map[isc.Digest]bool{}}
}

// Close voids the session grants. Everything asked afterwards is denied, and so
// is what a person is being asked now.
func (s *Session) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.grants, s.denied = nil, nil
}

func (s *Session) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// errStorePanic hides what the store panicked with, which may hold anything.
var errStorePanic = errors.New("permission: the store panicked")

// Grants lists the session's and the user's permanent grants. With an error of
// the store it still gives those of the session.
func (s *Session) Grants(ctx context.Context) ([]Grant, error) {
	s.mu.Lock()
	out := cloneGrants(s.grants)
	s.mu.Unlock()
	permanent, err := s.stored(ctx)
	return append(out, permanent...), err
}

// stored are the permanent grants of the store that can be, whatever else the
// store says.
func (s *Session) stored(ctx context.Context) (out []Grant, err error) {
	defer func() {
		if recover() != nil {
			out, err = nil, errStorePanic
		}
	}()
	all, err := s.gate.cfg.Store.Grants(ctx, s.user)
	if err != nil {
		return nil, fmt.Errorf("permission: the store does not answer: %w", err)
	}
	for _, g := range all {
		if g.possible(AllowPermanent) && g.User == s.user {
			out = append(out, g.clone())
		}
	}
	return out, nil
}

// Revoke takes a grant back, session or permanent, at once: no check that
// starts after it returned counts the grant. An unknown id is [ErrNoGrant].
func (s *Session) Revoke(ctx context.Context, id string) (err error) {
	if s.dropSessionGrant(id) {
		return nil
	}
	defer func() {
		if recover() != nil {
			err = errStorePanic
		}
	}()
	return s.gate.cfg.Store.Revoke(ctx, s.user, id)
}

func (s *Session) dropSessionGrant(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.grants)
	s.grants = slices.DeleteFunc(s.grants, func(g Grant) bool { return g.ID == id })
	return len(s.grants) < n
}

// covering finds the newest grant that covers q, of the session before of the
// store, and whether one is suspended. A grant does not cover a warning that the
// person did not see. An error of the store is no grant.
func (s *Session) covering(ctx context.Context, q Question) (g Grant, found, suspended bool) {
	s.mu.Lock()
	all := slices.Clone(s.grants) // to read only
	s.mu.Unlock()
	permanent, _ := s.stored(ctx) // what the store does not say is asked
	all = append(all, permanent...)
	if len(all) == 0 {
		return Grant{}, false, false
	}
	targets, warned := q.targets(), s.warnings(q)
	slices.SortStableFunc(all, func(a, b Grant) int {
		if a.Decision != b.Decision {
			return int(a.Decision) - int(b.Decision)
		}
		return b.Created.Compare(a.Created)
	})
	for _, g := range all {
		switch g.fits(s.user, q, targets, warned) {
		case fitCovers:
			return g.clone(), true, false
		case fitSuspended:
			suspended = true
		}
	}
	return Grant{}, false, suspended
}

// warnings are the codes of those that q has by itself and of having been denied
// before.
func (s *Session) warnings(q Question) []Code {
	out := warned(Assess(q))
	if s.hasDenied() && s.wasDenied(q.identity()) {
		out = append(out, CodeRepeatedAfterDenial)
	}
	return out
}

// remember keeps the grant that decision makes and says what became of it: a
// permanent grant that cannot be stored is a permission for this once.
func (s *Session) remember(ctx context.Context, r Request, choice isc.AppID, d Decision) (Decision, string) {
	switch d {
	case AllowSession:
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.closed {
			return Deny, reasonClosed
		}
		s.grants = append(s.grants, grantFor(s.user, r, choice, d))
		return d, ""
	case AllowPermanent:
		if err := s.put(ctx, grantFor(s.user, r, choice, d)); err != nil {
			return AllowOnce, "allowed once: it could not be stored: " + err.Error()
		}
		return d, ""
	default:
		return d, ""
	}
}

func (s *Session) put(ctx context.Context, g Grant) (err error) {
	defer func() {
		if recover() != nil {
			err = errStorePanic
		}
	}()
	return s.gate.cfg.Store.Put(ctx, g)
}

// maxDenied bounds what a session remembers of denials.
const maxDenied = 4096

func (s *Session) noteDenied(id isc.Digest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	for old := range s.denied {
		if len(s.denied) < maxDenied {
			break
		}
		delete(s.denied, old)
	}
	s.denied[id] = true
}

// hasDenied says whether the session remembers any denial, since telling which
// takes a digest.
func (s *Session) hasDenied() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.denied) > 0
}

func (s *Session) wasDenied(id isc.Digest) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.denied[id]
}
