package permission

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// Store keeps permanent grants. It must be safe for concurrent use, and must
// copy what it is given and what it gives. permissiontest.TestStore is the
// specification as a test.
type Store interface {
	// Grants returns the grants of user as they are now.
	Grants(ctx context.Context, user string) ([]Grant, error)
	// Put adds g, or replaces the grant with its id.
	Put(ctx context.Context, g Grant) error
	// Revoke removes a grant of user. Unknown ids are an error.
	Revoke(ctx context.Context, user, id string) error
}

// ErrNoGrant is for the revocation of a grant that is not there.
var ErrNoGrant = errors.New("permission: no such grant")

// CheckGrant says whether a [Store] may keep g: it is permanent, of a kind that
// can be, and has an id, a user and a pin where one is needed.
func CheckGrant(g Grant) error {
	switch {
	case !g.possible(AllowPermanent):
		return fmt.Errorf("permission: store: a %s grant of kind %s for user %q cannot be kept", g.Decision, g.Kind, g.User)
	default:
		return nil
	}
}

// InMemoryStore is a store that ends with the program.
func InMemoryStore() Store { return &memoryStore{} }

type memoryStore struct {
	mu     sync.Mutex
	grants []Grant
}

func (s *memoryStore) Grants(ctx context.Context, user string) ([]Grant, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return grantsOf(s.grants, user), nil
}

func (s *memoryStore) Put(ctx context.Context, g Grant) error {
	if err := errors.Join(context.Cause(ctx), CheckGrant(g)); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	grants, err := withGrant(s.grants, g)
	if err == nil {
		s.grants = grants
	}
	return err
}

func (s *memoryStore) Revoke(ctx context.Context, user, id string) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	grants, err := withoutGrant(s.grants, user, id)
	if err == nil {
		s.grants = grants
	}
	return err
}

func grantsOf(all []Grant, user string) []Grant {
	var out []Grant
	for _, g := range all {
		if g.User == user {
			out = append(out, g.clone())
		}
	}
	return out
}

// withGrant is all with g added or put in place of the grant with its id. An id
// belongs to one user.
func withGrant(all []Grant, g Grant) ([]Grant, error) {
	out := slices.Clone(all)
	i := slices.IndexFunc(out, func(o Grant) bool { return o.ID == g.ID })
	switch {
	case i < 0:
		return append(out, g.clone()), nil
	case out[i].User != g.User:
		return nil, fmt.Errorf("permission: store: grant id %q is another user's", g.ID)
	default:
		out[i] = g.clone()
		return out, nil
	}
}

func withoutGrant(all []Grant, user, id string) ([]Grant, error) {
	i := slices.IndexFunc(all, func(g Grant) bool { return g.ID == id && g.User == user })
	if i < 0 {
		return nil, fmt.Errorf("%w: %q", ErrNoGrant, id)
	}
	return slices.Delete(slices.Clone(all), i, i+1), nil
}
