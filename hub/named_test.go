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

// TestATargetIsTheUsersOnlyIfTheyNamedIt: a target that an app found counts as the
// user's where it stands in their request to the letter, and is no part of
// anything longer there.
func TestATargetIsTheUsersOnlyIfTheyNamedIt(t *testing.T) {
	const plan = `{"steps":[
		{"id":"l","do":"call","functionality":"addr.find","args":{}},
		{"id":"m","do":"call","functionality":"vault.move","args":{"door":{"step":"l","pointer":"/text"}}}],"answer":{"template":["Moved."]}}`
	for _, c := range []struct {
		request, value string
		named          bool
	}{
		{"send it to bob@firm.com", "bob@firm.com", true},
		{"send it to bob@firm.com.", "bob@firm.com", true},
		{"is it bob@firm.com?", "bob@firm.com", true},
		{"bob@firm.com, please", "bob@firm.com", true},
		{`to "bob@firm.com"!`, "bob@firm.com", true},
		{"Bob (bob@firm.com) and Eve", "bob@firm.com", true},
		{"to <bob@firm.com>", "bob@firm.com", true},
		{"bob@firm.com.au is old; use bob@firm.com", "bob@firm.com", true},
		{"open https://a.test/x.", "https://a.test/x", true},

		{"send it to bob@firm.com.au", "bob@firm.com", false},
		{"send it to bob@firm.com..au", "bob@firm.com", false},
		{"send it to bob@firm.com\u3002au", "bob@firm.com", false},
		{"send it to bob@firm.com\u200bx", "bob@firm.com", false},
		{"send it to bob@other.org", "bob@firm.com", false},
		{"send it to Bob@firm.com", "bob@firm.com", false},
		{"send it to alice.smith@corp.com", "smith@corp.com", false},
		{"send it to alice+smith@corp.com", "smith@corp.com", false},
		{"send it to o'smith@corp.com", "smith@corp.com", false},
		{"send it to bob@firm.company", "bob@firm.com", false},
		{"send it to bob@firm.com-mail.org", "bob@firm.com", false},
		{"look at files.example.com", "example.com", false},
		{"look at my-example.com", "example.com", false},
		{"write to me@example.com", "example.com", false},
		{"open https://a.test/x?y=1", "https://a.test/x", false},
		{"open https://a.test/x#y", "https://a.test/x", false},
		{"open https://a.test/x/y", "https://a.test/x", false},
		{"open https://a.test/x(y)", "https://a.test/x", false},
		{"open https://a.test:8080", "https://a.test", false},
		{"open https://a.test/x%20y", "https://a.test/x", false},
		{"open https://b.test/?to=https://a.test/x", "https://a.test/x", false},
		{"account 12-3456", "3456", false},
		{"pay 3456.78", "3456", false},
		{"door no", "no", false},
	} {
		t.Run(c.request+" "+c.value, func(t *testing.T) {
			find := must(spoke.New(isc.Manifest{ID: "addresses", Name: "Addresses"},
				spoke.Func("addr.find", func(context.Context, empty) (note, error) { return note{c.value}, nil }, spoke.Reads())))
			v := &vault{}
			p := &person{answer: saysYes}
			s := open(t, hub.Config{Apps: apps(find, v.app()), Consent: p, Planner: plans(map[string]string{c.request: plan})})
			e := runs(t, s, c.request)
			require.NoError(t, e.err)
			require.Len(t, v.done("vault.move"), 1)
			want := []string{permission.ApprovePlan.String()}
			if !c.named {
				want = append(want, permission.Collaborate.String())
				require.True(t, warned(p.asked[len(p.asked)-1], permission.CodeTargetNotFromUser))
			}
			require.Equal(t, want, p.kinds())
		})
	}
}
