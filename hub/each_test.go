package hub_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/hub"
	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/permission"
	"github.com/isolategpt/isolategpt/spoke"
)

type names struct {
	Names []string `json:"names"`
}

// TestAnEachBeyondItsBoundIsAsked: whatever the policy, and even for plain
// reads, data does not decide to do something more often than was planned.
func TestAnEachBeyondItsBoundIsAsked(t *testing.T) {
	const plan = `{"steps":[{"id":"l","do":"call","functionality":"shelf.list","args":{}},
		{"id":"r","do":"call","each":{"step":"l","pointer":"/names"},"at_most":2,"functionality":"shelf.read","args":{"name":{"item":""}}}],
		"answer":{"step":"r","pointer":"/*/text"}}`
	for name, c := range map[string]struct {
		policy permission.Policy
		person *person
		reads  int
	}{
		"balanced, denied":    {permission.Balanced(), &person{}, 0},
		"balanced, allowed":   {permission.Balanced(), &person{answer: saysYes}, 3},
		"every step, allowed": {permission.EveryStep(), &person{answer: saysYes}, 3},
		"every step, denied": {permission.EveryStep(), &person{answer: func(r permission.Request) permission.Answer {
			if r.Kind == permission.SelectApp {
				return saysYes(r)
			}
			return permission.Answer{}
		}}, 0},
		"headless": {permission.Headless(), &person{answer: saysYes}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			reads := &cabinet{}
			shelf := must(spoke.New(isc.Manifest{ID: "shelf", Name: "Shelf"},
				spoke.Func("shelf.list", func(context.Context, empty) (names, error) { return names{[]string{"a", "b", "c"}}, nil }, spoke.Reads()),
				spoke.Func("shelf.read", func(_ context.Context, f file) (note, error) {
					reads.mu.Lock()
					defer reads.mu.Unlock()
					reads.read = append(reads.read, f.Name)
					return note{f.Name}, nil
				}, spoke.Reads())))
			s := open(t, hub.Config{Apps: apps(shelf), Policy: c.policy, Consent: c.person, Planner: plans(map[string]string{"read all": plan})})
			a, err := s.Ask(t.Context(), "read all")
			require.NoError(t, err)
			require.Len(t, reads.reads(), c.reads, a.Text)
		})
	}
}
