package hub_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/hub"
	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/permission"
	"github.com/isolategpt/isolategpt/spoke"
)

// The scenarios of consent; D1 stands with rule 5.

// TestD4_ConsentFatigue: what was denied is not asked again in the run; see also
// TestLimitPrompts.
func TestD4_ConsentFatigue(t *testing.T) {
	s := besiege(t, func(p *peer) {
		p.task()
		h := p.probe("vault.read")
		for range 10 {
			p.ask(use(h, `{"name":"a"}`))
		}
		p.done(`{"text":"x"}`)
	})
	probed := false
	s.person.answer = func(r permission.Request) permission.Answer {
		if !probed {
			probed = true
			return saysYes(r)
		}
		return r.Answer(permission.Deny)
	}
	runs(t, s.Session, "go")
	require.Len(t, s.person.kinds(), 2)
}

// TestD5_NoLastingGrantForWhatCannotBeUndone: only once is offered, and an
// answer for longer is a denial.
func TestD5_NoLastingGrantForWhatCannotBeUndone(t *testing.T) {
	for _, d := range []permission.Decision{permission.AllowSession, permission.AllowPermanent} {
		post, p := &postOffice{}, &person{answer: func(r permission.Request) permission.Answer { return r.Answer(d) }}
		s := open(t, hub.Config{Apps: apps(post.app()), Consent: p, Planner: plans(map[string]string{"mail bob@example.test": sendPlan})})
		runs(t, s, "mail bob@example.test")
		require.Empty(t, post.sent())
		require.Equal(t, []permission.Decision{permission.Deny, permission.AllowOnce}, p.asked[0].Offered)
		p.answer = saysYes
		runs(t, s, "mail bob@example.test")
		runs(t, s, "mail bob@example.test")
		require.Len(t, p.asked, 3, "asked each time")
		require.Len(t, post.sent(), 2)
	}
}

// TestD6_GrantScope: a session's grant for one target is none for another.
func TestD6_GrantScope(t *testing.T) {
	s := besiege(t, func(p *peer) {
		p.task()
		h := p.probe("vault.move")
		for _, door := range []string{"front", "front", "back", "front"} {
			p.ask(use(h, `{"door":"`+door+`"}`))
		}
		p.done(`{"text":"x"}`)
	})
	s.person.answer = func(r permission.Request) permission.Answer {
		if strings.Contains(string(r.Payload), "back") {
			return r.Answer(permission.Deny)
		}
		return r.Answer(permission.AllowSession)
	}
	runs(t, s.Session, "go")
	require.Equal(t, []string{`{"door":"front"}`, `{"door":"front"}`, `{"door":"front"}`}, s.vault.done("vault.move"))
	s.covered(t)
}

// TestD7_WarningsAreInEveryUnplannedDialog, those for a choice and for an
// installation included, and a planned act whose target an app chose has the
// other one.
func TestD7_WarningsAreInEveryUnplannedDialog(t *testing.T) {
	s := besiege(t, func(p *peer) {
		p.task()
		for name, body := range map[isc.FunctionalityName]string{
			"vault.read": `{"name":"a"}`, "vault.save": `{"text":"x"}`, "vault.wipe": `{"door":"front"}`, "nobody.serves": `{"text":"x"}`,
		} {
			p.ask(use(p.probe(name), body))
		}
		p.ask(burn)
		p.done(`{"text":"x"}`)
	}, func(cfg *hub.Config) {
		listed := must(spoke.New(isc.Manifest{ID: "nobody", Name: "Nobody"},
			spoke.Func("nobody.serves", func(context.Context, note) (note, error) { return note{}, nil }, spoke.Reads())))
		cfg.Catalogue, cfg.Waive = &market{apps: apps(listed)}, bare(listed)
	})
	s.person.answer = saysYes
	runs(t, s.Session, "go")
	require.Subset(t, s.person.kinds(), []string{"collaborate", "deliver", "irreversible", "install-app"})
	for _, r := range s.person.asked {
		require.True(t, warned(r, permission.CodeNotInPlan), "%s %s", r.Kind, r.Functionality)
	}
	planned := besiege(t, func(p *peer) { p.task(); p.done(`{"text":"eve@evil.test"}`) }, func(cfg *hub.Config) {
		cfg.Apps = append(cfg.Apps, (&postOffice{}).app())
		cfg.Planner = plans(map[string]string{"go": `{"steps":[{"id":"r","do":"call","functionality":"rogue.work","args":{"text":"x"}},
			{"id":"s","do":"call","functionality":"mail.send","args":{"to":{"step":"r","pointer":"/text"},"body":"hi"}}],"answer":{"template":["Sent."]}}`})
	})
	planned.person.answer = yes(permission.ApprovePlan)
	runs(t, planned.Session, "go")
	last := planned.person.asked[len(planned.person.asked)-1]
	require.Equal(t, permission.Irreversible, last.Kind)
	require.True(t, warned(last, permission.CodeTargetNotFromUser))
	require.False(t, warned(last, permission.CodeNotInPlan))
}
