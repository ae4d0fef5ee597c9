package permission_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/permission"
)

// TestAHostIsAllowedOnlyByARuleThatNamesIt: a broad rule lets nothing out of the
// program, and one about hosts is about nothing else.
func TestAHostIsAllowedOnlyByARuleThatNamesIt(t *testing.T) {
	send := permission.Question{
		Kind: permission.SendRemote, From: permission.Party{ID: "app"}, To: permission.Party{ID: "app"}, Host: "a.test", Effect: isc.Write,
		Payload: []byte(`{"method":"GET","url":"https://a.test/"}`), Label: isc.AppLabel("app"), Functionality: "app.work",
	}
	for name, c := range map[string]struct {
		rule permission.Rule
		host string
		want permission.RulingEffect
	}{
		"broad":                    {permission.Rule{Effect: permission.RuleAllow}, "a.test", permission.RuleGrant},
		"broad, by kind":           {permission.Rule{Effect: permission.RuleAllow, Kinds: []permission.Kind{permission.SendRemote}}, "a.test", permission.RuleGrant},
		"this host":                {permission.Rule{Effect: permission.RuleAllow, Host: "a.test"}, "a.test", permission.RuleAllow},
		"this host, not encrypted": {permission.Rule{Effect: permission.RuleAllow, Host: "a.test"}, "http://a.test", permission.RuleGrant},
		"another host":             {permission.Rule{Effect: permission.RuleAllow, Host: "b.test"}, "a.test", permission.RuleGrant},
		"a host below it":          {permission.Rule{Effect: permission.RuleAllow, Host: "a.test"}, "x.a.test", permission.RuleGrant},
		"any":                      {permission.Rule{Effect: permission.RuleAllow, Host: "*"}, "a.test", permission.RuleAllow},
		"denied broadly":           {permission.Rule{Effect: permission.RuleDeny}, "a.test", permission.RuleDeny},
		"denied":                   {permission.Rule{Effect: permission.RuleDeny, Host: "a.test"}, "a.test", permission.RuleDeny},
		"another denied":           {permission.Rule{Effect: permission.RuleDeny, Host: "b.test"}, "a.test", permission.RuleGrant},
	} {
		t.Run(name, func(t *testing.T) {
			c.rule.ID, c.rule.From, c.rule.To, c.rule.Functionality = "rule", "*", "*", "*"
			policy, err := permission.Layers(permission.Headless(), permission.Layer{Name: "org", Rules: []permission.Rule{c.rule}})
			require.NoError(t, err)
			q := send
			q.Host = c.host
			require.NoError(t, q.Validate())
			require.Equal(t, c.want.String(), permission.Explain(policy, q).Effect.String())
			if c.rule.Host != "" {
				q.Kind, q.Host = permission.Change, ""
				require.Equal(t, permission.RuleGrant.String(), permission.Explain(policy, q).Effect.String(), "it is no host's")
			}
		})
	}
	require.Error(t, permission.Rule{ID: "r", Effect: permission.RuleDeny, Host: "a test"}.Validate())
	rules, err := permission.DecodeRules([]byte(`[{"id":"r","effect":"allow","from":"app","to":"app","functionality":"*","host":"a.test"}]`))
	require.NoError(t, err)
	require.Equal(t, "a.test", rules[0].Host)
}

// TestWhatDoesNotShowInFullIsNotRemembered is rule 11 of the consent page.
func TestWhatDoesNotShowInFullIsNotRemembered(t *testing.T) {
	findings := permission.Assess(permission.Question{Kind: permission.SendRemote, Plan: permission.InPlan, Warnings: []permission.Code{permission.CodeNotShownInFull}})
	require.Len(t, findings, 1)
	require.True(t, findings[0].Warning)
	require.Contains(t, findings[0].Reason, "size and digest")
}
