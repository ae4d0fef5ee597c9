package permission_test

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/permission"
)

// granted gives a session in which q was allowed until it closes, and says
// whether another question is covered by that grant.
func granted(t *testing.T, q permission.Question, lifetime permission.Decision, store permission.Store) (*permission.Session, func(permission.Question) bool) {
	t.Helper()
	p := &person{decision: lifetime}
	s := gate(t, p, ask, store).Session("alice")
	require.Equal(t, lifetime, s.Run(permission.RunConfig{}).Check(t.Context(), q).Decision)
	p.decision = permission.Deny
	return s, func(q permission.Question) bool {
		before := p.asked.Load()
		v := s.Run(permission.RunConfig{}).Check(t.Context(), q)
		require.Equal(t, v.Allowed(), p.asked.Load() == before, "what is not covered is asked")
		return v.Allowed()
	}
}

func targeting(pointer, payload string) permission.Question {
	q := question()
	q.Payload = json.RawMessage(payload)
	q.Fields = []permission.PayloadField{{Pointer: pointer, Label: isc.UserLabel(), Role: isc.Destination}}
	return q
}

func TestD6AGrantForSomePartsCoversNoOtherNumberOrderOrNameOfParts(t *testing.T) {
	for _, tt := range []struct {
		pointer, given string
		other          []string
	}{
		{"/to/*", `{"to":{"*":"bob"}}`, []string{`{"to":{"*":"bob","x":"eve"}}`, `{"to":{"x":"bob"}}`, `{"to":["bob"]}`, `{"to":{}}`}},
		{"/to/*", `{"to":{"*":"<bob>","x":"eve"}}`, []string{`{"to":{"*":"<bob>"}}`, `{"to":{"*":"eve","x":"<bob>"}}`, `{"to":{"*":"<bob>","y":"eve"}}`}},
		{"/to/*", `{"to":["a","b"]}`, []string{`{"to":["b","a"]}`, `{"to":["a"]}`, `{"to":["a","b","c"]}`, `{"to":["a","b",""]}`, `{"to":{"0":"a","1":"b"}}`}},
		{"/*/to", `{"*":{"to":"bob"}}`, []string{`{"*":{"to":"bob"},"x":{"to":"eve"}}`, `{"x":{"to":"bob"}}`}},
		{"/*/0", `{"a":["bob"]}`, []string{`{"a":["eve"]}`, `{"a":["bob"],"b":["eve"]}`}},
		{"/a~1b/*", `{"a/b":{"c/d":"bob"}}`, []string{`{"a/b":{"c/d":"eve"}}`, `{"a/b":{"c~d":"bob"}}`}},
		{"to", `{"to":"bob"}`, []string{`{"to":"eve"}`}},
		{"/~2", `{"~2":"bob"}`, nil},
		{"/to/*/at", `{"to":[{"at":"bob","n":1},{"n":2}]}`, []string{`{"to":[{"n":2},{"at":"bob","n":1}]}`, `{"to":[{"at":"bob"},{"at":"eve"}]}`}},
	} {
		for _, lifetime := range []permission.Decision{permission.AllowSession, permission.AllowPermanent} {
			store := openFile(t, filepath.Join(t.TempDir(), "g.json"))
			_, covered := granted(t, targeting(tt.pointer, tt.given), lifetime, store)
			require.True(t, covered(targeting(tt.pointer, tt.given)), "%s in %s", tt.pointer, tt.given)
			for _, other := range tt.other {
				require.False(t, covered(targeting(tt.pointer, other)), "%s: %s is not %s", tt.pointer, other, tt.given)
			}
		}
	}
}

func TestD7AGrantDoesNotCoverAWarningThatWasNotSeen(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*permission.Question)
		covers bool
	}{
		"target not from the user": {func(q *permission.Question) { q.Fields[0].Label = isc.AppLabel("app.notes") }, false},
		"sensitive":                {func(q *permission.Question) { q.Label = q.Label.Sensitive() }, false},
		"hidden characters":        {func(q *permission.Question) { q.Payload = json.RawMessage("{\"folder\":\"inbox\",\"q\":\"a\u202eb\"}") }, false},
		"rule of two":              {func(q *permission.Question) { q.Warnings = []permission.Code{permission.CodeRuleOfTwo} }, false},
		"app changed":              {func(q *permission.Question) { q.Warnings = []permission.Code{permission.CodeManifestChanged} }, false},
		"a code of the hub's":      {func(q *permission.Question) { q.Warnings = []permission.Code{"Novel"} }, false},
		"not in the plan":          {func(q *permission.Question) { q.Plan = permission.NotInPlan }, true},
		"not in the plan, told": {func(q *permission.Question) {
			q.Warnings = []permission.Code{permission.CodeNotInPlan, permission.CodeFirstUse}
		}, true},
	} {
		for _, lifetime := range []permission.Decision{permission.AllowSession, permission.AllowPermanent} {
			q := question()
			tt.change(&q)
			_, covered := granted(t, question(), lifetime, nil)
			require.Equal(t, tt.covers, covered(q), name)
		}
		q := question()
		tt.change(&q)
		_, covered := granted(t, q, permission.AllowSession, nil)
		require.True(t, covered(q), "%s: what was seen is covered", name)
		require.True(t, covered(question()), "%s: fewer warnings are covered", name)
	}
}

func TestD7AGrantKeepsTheWarningsThatWereSeen(t *testing.T) {
	q := question()
	q.Plan, q.Warnings = permission.NotInPlan, []permission.Code{permission.CodeRuleOfTwo, permission.CodeFirstUse}
	s, _ := granted(t, q, permission.AllowSession, nil)
	grants, err := s.Grants(t.Context())
	require.NoError(t, err)
	require.Equal(t, []permission.Code{permission.CodeNotInPlan, permission.CodeRuleOfTwo}, grants[0].Warned)
	raw, err := json.Marshal(grants[0])
	require.NoError(t, err)
	require.Contains(t, string(raw), `"warned":["NotInPlan","RuleOfTwo"]`)
	require.Contains(t, grants[0].String(), " despite NotInPlan, RuleOfTwo")
	grants[0].Warned[0] = "X"
	again, _ := s.Grants(t.Context())
	require.NotEqual(t, grants[0].Warned, again[0].Warned, "nobody shares what a grant keeps")
}

func TestD7WhatWasDeniedBeforeIsNotCoveredByAGrantForAnother(t *testing.T) {
	p := &person{}
	s := gate(t, p, ask, nil).Session("alice")
	other := question()
	other.Payload = json.RawMessage(`{"folder":"inbox","q":"passwords"}`)
	denied(t, s.Run(permission.RunConfig{}).Check(t.Context(), other), "by the user")
	p.decision = permission.AllowPermanent
	require.True(t, s.Run(permission.RunConfig{}).Check(t.Context(), question()).Allowed())
	p.decision = permission.Deny
	require.True(t, s.Run(permission.RunConfig{}).Check(t.Context(), question()).Allowed())
	denied(t, s.Run(permission.RunConfig{}).Check(t.Context(), other), "by the user")
}

func TestD6AGrantForAProbeCoversProbesOnly(t *testing.T) {
	probe := question()
	probe.Probe = true
	for _, lifetime := range []permission.Decision{permission.AllowSession, permission.AllowPermanent} {
		s, covered := granted(t, probe, lifetime, nil)
		require.True(t, covered(probe))
		require.False(t, covered(question()))
		grants, err := s.Grants(t.Context())
		require.NoError(t, err)
		require.Contains(t, grants[0].String(), "only to learn whether someone serves it")

		_, covered = granted(t, question(), lifetime, nil)
		require.True(t, covered(question()))
		require.False(t, covered(probe))
	}
	run := gate(t, &person{}, ask, nil).Session("alice").Run(permission.RunConfig{})
	denied(t, run.Check(t.Context(), probe), "by the user")
	denied(t, run.Check(t.Context(), question()), "by the user") // and not "before in this run": it is another act
}
