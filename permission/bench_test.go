package permission_test

import (
	"context"
	"testing"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/permission"
)

// BenchmarkCheck is a question that nobody is asked: one that the policy allows,
// and one that a grant of the session covers.
func BenchmarkCheck(b *testing.B) {
	questions := map[string]permission.Question{
		"policy": {
			Kind: permission.Collaborate, From: permission.Party{ID: "travel", Name: "Travel"}, To: permission.Party{ID: "mail", Name: "Mail"},
			Functionality: "mail.count", Effect: isc.Read, Closed: true, Plan: permission.InPlan, Pin: isc.DigestOf([]byte("mail.count")),
			Payload: []byte(`{"folder":"inbox","unread":true}`), Query: "How many unread mails are there?",
			Fields: []permission.PayloadField{{Pointer: "/folder", Label: isc.UserLabel(), Role: isc.Payload, Closed: true}},
		},
	}
	granted := questions["policy"]
	granted.Plan, granted.Closed = permission.NotInPlan, false
	granted.Fields = []permission.PayloadField{{Pointer: "/folder", Label: isc.UserLabel(), Role: isc.Record}}
	questions["grant"] = granted
	for _, name := range []string{"policy", "grant"} {
		b.Run(name, func(b *testing.B) {
			g, err := permission.NewGate(permission.Config{
				Store: permission.InMemoryStore(), Policy: permission.Balanced(),
				Prompter: permission.PrompterFunc(func(_ context.Context, r permission.Request) (permission.Answer, error) {
					return r.Answer(permission.AllowSession), nil
				}),
			})
			if err != nil {
				b.Fatal(err)
			}
			run := g.Session("alice").Run(permission.RunConfig{})
			run.Check(b.Context(), questions[name])
			b.ReportAllocs()
			for b.Loop() {
				if v := run.Check(b.Context(), questions[name]); !v.Allowed() {
					b.Fatal(v.Reason)
				}
			}
		})
	}
}
