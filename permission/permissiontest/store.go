// Package permissiontest is the specification of [permission.Store] as a test.
//
// A store that passes [TestStore] keeps users apart, copies, replaces by id,
// revokes, refuses what can be no permanent grant, and may be used by many at
// once. Durability is not tested here.
//
//	func TestMyStore(t *testing.T) {
//		permissiontest.TestStore(t, func(t *testing.T) permission.Store { return mine.New(t.TempDir()) })
//	}
//
// Trust boundary: none; it runs in tests.
//
// # Source
//
// Paper App. A-D: permanent permissions can be revoked at any time and never
// cover what cannot be undone.
package permissiontest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/permission"
)

// Grant is a permanent grant that a store must keep.
func Grant(user, id string) permission.Grant {
	return permission.Grant{
		ID: id, User: user, Kind: permission.Collaborate, Caller: "app.travel", Provider: "app.mail",
		Functionality: "search_mail", Pin: isc.DigestOf([]byte("v1")),
		Targets:  map[string]json.RawMessage{"/folder": json.RawMessage(`{"name":"a<b"}`)},
		Decision: permission.AllowPermanent, Created: time.Date(2026, 12, 1, 8, 30, 0, 5, time.UTC),
	}
}

// TestStore runs the specification. NewStore gives an empty store each time.
func TestStore(t *testing.T, newStore func(t *testing.T) permission.Store) {
	for name, test := range map[string]func(*testing.T, permission.Store){
		"keeps":              testKeeps,
		"users are apart":    testUsers,
		"copies":             testCopies,
		"refuses":            testRefuses,
		"obeys its context":  testContext,
		"many at once":       testConcurrent,
		"replaces by its id": testReplaces,
	} {
		t.Run(name, func(t *testing.T) { test(t, newStore(t)) })
	}
}

func put(t *testing.T, s permission.Store, grants ...permission.Grant) {
	t.Helper()
	for _, g := range grants {
		if err := s.Put(t.Context(), g); err != nil {
			t.Fatalf("Put(%s): %v", g, err)
		}
	}
}

func want(t *testing.T, s permission.Store, user string, grants ...permission.Grant) {
	t.Helper()
	got, err := s.Grants(t.Context(), user)
	if err != nil {
		t.Fatalf("Grants(%q): %v", user, err)
	}
	if len(got) != len(grants) || len(got) > 0 && !reflect.DeepEqual(got, grants) {
		t.Fatalf("Grants(%q) gave %+v, want %+v", user, got, grants)
	}
}

func testKeeps(t *testing.T, s permission.Store) {
	want(t, s, "alice")
	put(t, s, Grant("alice", "1"), Grant("alice", "2"))
	want(t, s, "alice", Grant("alice", "1"), Grant("alice", "2"))
	if err := s.Revoke(t.Context(), "alice", "1"); err != nil {
		t.Fatalf("Revoke: %v", err)
	}
	want(t, s, "alice", Grant("alice", "2"))
	for _, id := range []string{"1", "", "none"} {
		if err := s.Revoke(t.Context(), "alice", id); !errors.Is(err, permission.ErrNoGrant) {
			t.Errorf("Revoke(%q): %v, want ErrNoGrant", id, err)
		}
	}
}

func testReplaces(t *testing.T, s permission.Store) {
	put(t, s, Grant("alice", "1"), Grant("alice", "2"))
	changed := Grant("alice", "1")
	changed.Functionality = "read_mail"
	changed.Probe, changed.Warned = true, []permission.Code{permission.CodeRuleOfTwo}
	put(t, s, changed)
	want(t, s, "alice", changed, Grant("alice", "2"))
}

func testUsers(t *testing.T, s permission.Store) {
	users := []string{"alice", "alice/1", "Alice", "alice ", "%", "' OR 1=1 --"}
	for i, u := range users {
		put(t, s, Grant(u, fmt.Sprint(i)))
	}
	for i, u := range users {
		want(t, s, u, Grant(u, fmt.Sprint(i)))
	}
	want(t, s, "bob")
	if err := s.Revoke(t.Context(), "bob", "0"); !errors.Is(err, permission.ErrNoGrant) {
		t.Errorf("Revoke of another's grant: %v, want ErrNoGrant", err)
	}
	if err := s.Put(t.Context(), Grant("bob", "0")); err == nil {
		t.Error("Put took the id of another user's grant")
	}
	want(t, s, "alice", Grant("alice", "0"))
}

func testCopies(t *testing.T, s permission.Store) {
	in, kept := Grant("alice", "1"), Grant("alice", "1")
	in.Warned, kept.Warned = []permission.Code{"A"}, []permission.Code{"A"}
	put(t, s, in)
	in.Warned[0] = "B"
	in.Targets["/folder"][2] = 'X'
	delete(in.Targets, "/folder")
	want(t, s, "alice", kept)
	out, err := s.Grants(t.Context(), "alice")
	if err != nil {
		t.Fatal(err)
	}
	out[0].Targets["/folder"][2] = 'X'
	out[0].Warned[0] = "B"
	out[0].Provider = "app.evil"
	want(t, s, "alice", kept)
}

func testRefuses(t *testing.T, s permission.Store) {
	for name, change := range map[string]func(*permission.Grant){
		"no id":            func(g *permission.Grant) { g.ID = "" },
		"no user":          func(g *permission.Grant) { g.User = "" },
		"session":          func(g *permission.Grant) { g.Decision = permission.AllowSession },
		"once":             func(g *permission.Grant) { g.Decision = permission.AllowOnce },
		"deny":             func(g *permission.Grant) { g.Decision = permission.Deny },
		"unknown decision": func(g *permission.Grant) { g.Decision = 9 },
		"irreversible":     func(g *permission.Grant) { g.Kind = permission.Irreversible },
		"install":          func(g *permission.Grant) { g.Kind = permission.InstallApp },
		"plan":             func(g *permission.Grant) { g.Kind = permission.ApprovePlan },
		"no kind":          func(g *permission.Grant) { g.Kind = 0 },
		"unknown kind":     func(g *permission.Grant) { g.Kind = 99 },
	} {
		g := Grant("alice", "1")
		change(&g)
		if err := s.Put(t.Context(), g); err == nil {
			t.Errorf("Put kept a grant: %s", name)
		}
	}
	want(t, s, "alice")
}

func testContext(t *testing.T, s permission.Store) {
	put(t, s, Grant("alice", "1"))
	cause := errors.New("the user went home")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if _, err := s.Grants(ctx, "alice"); !errors.Is(err, cause) {
		t.Errorf("Grants: %v, want the cause", err)
	}
	if err := s.Put(ctx, Grant("alice", "2")); !errors.Is(err, cause) {
		t.Errorf("Put: %v, want the cause", err)
	}
	if err := s.Revoke(ctx, "alice", "1"); !errors.Is(err, cause) {
		t.Errorf("Revoke: %v, want the cause", err)
	}
	want(t, s, "alice", Grant("alice", "1"))
}

// testConcurrent holds that no change is lost.
func testConcurrent(t *testing.T, s permission.Store) {
	const writers, each = 4, 5
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				if err := s.Put(t.Context(), Grant("alice", fmt.Sprintf("%d.%d", w, i))); err != nil {
					t.Error(err)
				}
			}
			if err := s.Revoke(t.Context(), "alice", fmt.Sprintf("%d.0", w)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	got, err := s.Grants(t.Context(), "alice")
	if err != nil || len(got) != writers*(each-1) {
		t.Fatalf("there are %d grants, %v; want %d", len(got), err, writers*(each-1))
	}
}
