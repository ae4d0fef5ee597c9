// Package memorytest is the specification of [memory.Memory] as a test.
//
// An implementation that passes [TestMemory] keeps scopes apart, keeps order,
// copies, answers queries, forgets, obeys its context and may be used by many at
// once. Durability is not tested here.
//
//	func TestMyMemory(t *testing.T) {
//		memorytest.TestMemory(t, func(t *testing.T) memory.Memory { return mine.New(t.TempDir()) })
//	}
//
// Trust boundary: none; it runs in tests.
//
// # Source
//
// Paper §IV-A3 and §IV-B3; security scenarios E1 and C8.
package memorytest

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
	"github.com/isolategpt/isolategpt/memory"
)

// TestMemory runs the specification. NewMemory gives an empty memory each time.
func TestMemory(t *testing.T, newMemory func(t *testing.T) memory.Memory) {
	for name, test := range map[string]func(*testing.T, memory.Memory){
		"keeps what it is given": testKeeps,
		"scopes are apart":       testScopes,
		"order and queries":      testQueries,
		"forgets":                testForget,
		"copies in and out":      testCopies,
		"refuses":                testRefuses,
		"obeys its context":      testContext,
		"many at once":           testConcurrent,
	} {
		t.Run(name, func(t *testing.T) { test(t, newMemory(t)) })
	}
}

func record(kind memory.Kind, key, value string) memory.Record {
	return memory.Record{
		Kind: kind, Key: key, Value: json.RawMessage(value), Label: isc.UserLabel(),
		Time: time.Date(2026, 12, 1, 8, 30, 0, 0, time.UTC),
	}
}

func appendAll(t *testing.T, m memory.Memory, s memory.Scope, records ...memory.Record) {
	t.Helper()
	for _, r := range records {
		if err := m.Append(t.Context(), s, r); err != nil {
			t.Fatalf("Append(%+v): %v", r, err)
		}
	}
}

// wantValues fails unless q selects exactly these values in this order.
func wantValues(t *testing.T, m memory.Memory, s memory.Scope, q memory.Query, want ...string) {
	t.Helper()
	records, err := m.Records(t.Context(), s, q)
	if err != nil {
		t.Fatalf("Records(%+v): %v", q, err)
	}
	var got []string
	for _, r := range records {
		got = append(got, string(r.Value))
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("Records(%+v) gave %q, want %q", q, got, want)
	}
}

func testKeeps(t *testing.T, m memory.Memory) {
	s := memory.AppScope("alice", "app.mail")
	in := record(memory.Entity, "a.b", `{"x":["\u00fc",1.50,null]}`)
	in.Label = isc.AppLabel("app.mail").Join(isc.UserLabel()).Sensitive()
	appendAll(t, m, s, in)
	out, err := m.Records(t.Context(), s, memory.Query{})
	if err != nil || len(out) != 1 {
		t.Fatalf("Records gave %d records and %v, want one", len(out), err)
	}
	got := out[0]
	if got.Kind != in.Kind || got.Key != in.Key || got.Label != in.Label || !got.Time.Equal(in.Time) {
		t.Errorf("kept %+v, want %+v", got, in)
	}
	if string(got.Value) != string(in.Value) {
		t.Errorf("kept value %s, want the same bytes %s", got.Value, in.Value)
	}
}

// scopes are pairs that a store which joins names would take for one another.
func scopes() []memory.Scope {
	var out []memory.Scope
	for _, user := range []string{"alice", "alice/app.mail", "alice\x00app.mail", "Alice", "alice ", "a", "app.mail", "hub", "%", "a_ice", "' OR 1=1 --", "ali:ce", "\u00e4", "a\u0308"} {
		out = append(out, memory.HubScope(user))
		for _, app := range []isc.AppID{"app.mail", "app.mail2", "hub", "app", "mail", "app_mail", "%"} {
			out = append(out, memory.AppScope(user, app))
		}
	}
	return out
}

func testScopes(t *testing.T, m memory.Memory) {
	all := scopes()
	for i, s := range all {
		appendAll(t, m, s, record(memory.Turn, "", fmt.Sprint(i)))
	}
	for i, s := range all {
		wantValues(t, m, s, memory.Query{}, fmt.Sprint(i))
	}
	for i, s := range all {
		if n, err := m.Forget(t.Context(), s, memory.Query{}); n != 1 || err != nil {
			t.Fatalf("Forget in scope %d removed %d, %v; want 1", i, n, err)
		}
		wantValues(t, m, s, memory.Query{})
		if i+1 < len(all) {
			wantValues(t, m, all[i+1], memory.Query{}, fmt.Sprint(i+1))
		}
	}
}

func testQueries(t *testing.T, m memory.Memory) {
	s := memory.HubScope("alice")
	early := record(memory.Turn, "", `"t3"`)
	early.Time = early.Time.Add(-time.Hour) // order is that of appending
	appendAll(t, m, s,
		record(memory.Turn, "", `"t1"`), record(memory.Entity, "k", `"e1"`), record(memory.Turn, "", `"t2"`),
		record(memory.Summary, "", `"s1"`), record(memory.Entity, "K", `"e2"`), record(memory.Entity, "k", `"e3"`), early)
	wantValues(t, m, s, memory.Query{}, `"t1"`, `"e1"`, `"t2"`, `"s1"`, `"e2"`, `"e3"`, `"t3"`)
	wantValues(t, m, s, memory.Query{Kind: memory.Turn}, `"t1"`, `"t2"`, `"t3"`)
	wantValues(t, m, s, memory.Query{Kind: memory.Turn, Last: 2}, `"t2"`, `"t3"`)
	wantValues(t, m, s, memory.Query{Key: "k"}, `"e1"`, `"e3"`)
	wantValues(t, m, s, memory.Query{Kind: memory.Entity, Key: "k", Last: 1}, `"e3"`)
	wantValues(t, m, s, memory.Query{Kind: memory.Turn, Key: "k"})
	wantValues(t, m, s, memory.Query{Last: 100, Kind: memory.Summary}, `"s1"`)
	wantValues(t, m, s, memory.Query{Kind: 99})
}

func testForget(t *testing.T, m memory.Memory) {
	s := memory.HubScope("alice")
	appendAll(t, m, s, record(memory.Turn, "", `1`), record(memory.Turn, "", `2`), record(memory.Entity, "k", `3`), record(memory.Turn, "", `4`))
	for _, step := range []struct {
		q    memory.Query
		gone int
		left []string
	}{
		{memory.Query{Key: "none"}, 0, []string{"1", "2", "3", "4"}},
		{memory.Query{Kind: memory.Turn, Last: 1}, 1, []string{"1", "2", "3"}},
		{memory.Query{Key: "k"}, 1, []string{"1", "2"}},
		{memory.Query{}, 2, nil},
		{memory.Query{}, 0, nil},
	} {
		n, err := m.Forget(t.Context(), s, step.q)
		if err != nil || n != step.gone {
			t.Fatalf("Forget(%+v) = %d, %v; want %d", step.q, n, err, step.gone)
		}
		wantValues(t, m, s, memory.Query{}, step.left...)
	}
}

func testCopies(t *testing.T, m memory.Memory) {
	s := memory.HubScope("alice")
	in := record(memory.Turn, "", `"safe"`)
	appendAll(t, m, s, in)
	copy(in.Value, `"evil"`)
	wantValues(t, m, s, memory.Query{}, `"safe"`)
	out, err := m.Records(t.Context(), s, memory.Query{})
	if err != nil || len(out) != 1 {
		t.Fatalf("Records gave %d records and %v", len(out), err)
	}
	copy(out[0].Value, `"evil"`)
	wantValues(t, m, s, memory.Query{}, `"safe"`)
}

func testRefuses(t *testing.T, m memory.Memory) {
	ok := record(memory.Turn, "", `1`)
	for name, s := range map[string]memory.Scope{
		"zero": {}, "hub of nobody": memory.HubScope(""), "app of nobody": memory.AppScope("", "app.mail"), "app without id": memory.AppScope("alice", ""),
	} {
		if err := m.Append(t.Context(), s, ok); !errors.Is(err, memory.ErrScope) {
			t.Errorf("Append to scope %q: %v, want ErrScope", name, err)
		}
		if _, err := m.Records(t.Context(), s, memory.Query{}); !errors.Is(err, memory.ErrScope) {
			t.Errorf("Records of scope %q: %v, want ErrScope", name, err)
		}
		if _, err := m.Forget(t.Context(), s, memory.Query{}); !errors.Is(err, memory.ErrScope) {
			t.Errorf("Forget in scope %q: %v, want ErrScope", name, err)
		}
	}
	s := memory.HubScope("alice")
	for name, r := range map[string]memory.Record{
		"zero": {}, "no kind": record(0, "", `1`), "unknown kind": record(99, "", `1`),
		"not JSON": record(memory.Turn, "", `{`), "no value": record(memory.Turn, "", ``), "entity without key": record(memory.Entity, "", `1`),
	} {
		if err := m.Append(t.Context(), s, r); !errors.Is(err, memory.ErrRecord) {
			t.Errorf("Append of a record, %s: %v, want ErrRecord", name, err)
		}
	}
	wantValues(t, m, s, memory.Query{})
}

func testContext(t *testing.T, m memory.Memory) {
	s := memory.HubScope("alice")
	appendAll(t, m, s, record(memory.Turn, "", `1`))
	cause := errors.New("the user went home")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if err := m.Append(ctx, s, record(memory.Turn, "", `2`)); !errors.Is(err, cause) {
		t.Errorf("Append: %v, want the cause", err)
	}
	if _, err := m.Records(ctx, s, memory.Query{}); !errors.Is(err, cause) {
		t.Errorf("Records: %v, want the cause", err)
	}
	if _, err := m.Forget(ctx, s, memory.Query{}); !errors.Is(err, cause) {
		t.Errorf("Forget: %v, want the cause", err)
	}
	wantValues(t, m, s, memory.Query{}, `1`)
}

// testConcurrent holds that nothing that was appended is lost, that readers and
// writers of many scopes do not meet, and, under the race detector, that there
// is no race.
func testConcurrent(t *testing.T, m memory.Memory) {
	const writers, each = 8, 25
	var wg sync.WaitGroup
	for w := range writers {
		s := memory.AppScope("alice", isc.AppID(fmt.Sprintf("app.%d", w%4)))
		wg.Go(func() {
			for i := range each {
				if err := m.Append(t.Context(), s, record(memory.Turn, "", fmt.Sprint(w*each+i))); err != nil {
					t.Error(err)
				}
				if _, err := m.Records(t.Context(), s, memory.Query{Last: 3}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for a := range 4 {
		s := memory.AppScope("alice", isc.AppID(fmt.Sprintf("app.%d", a)))
		records, err := m.Records(t.Context(), s, memory.Query{})
		if err != nil || len(records) != 2*each {
			t.Errorf("scope %d has %d records, %v; want %d", a, len(records), err, 2*each)
		}
		for _, r := range records {
			var n int
			if json.Unmarshal(r.Value, &n) != nil || n/each%4 != a {
				t.Errorf("scope %d holds %s of another", a, r.Value)
			}
		}
	}
}
