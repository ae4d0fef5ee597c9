package hub_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/hub"
	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
)

const bothFares = `{"steps":[
	{"id":"m","do":"call","functionality":"ride.fare","app":"metro_hail","args":{"from":"Main Street","to":"Elm Avenue"}},
	{"id":"q","do":"call","functionality":"ride.fare","app":"quick_ride","args":{"from":"Main Street","to":"Elm Avenue"}}],
	"answer":{"template":["Metro Hail ",{"step":"m","pointer":"/fare"},", Quick Ride ",{"step":"q","pointer":"/fare"}]}}`

func TestTwoAppsAreAskedSideBySideAndAnswerByTheirOwnValues(t *testing.T) {
	asked := &person{}
	s := open(t, hub.Config{
		Apps: []spoke.App{metro(), quick()}, Consent: asked,
		Planner: plans(map[string]string{"fares?": bothFares}),
	})
	a, err := s.Ask(t.Context(), "fares?")
	require.NoError(t, err)
	require.Equal(t, "Metro Hail 51.80, Quick Ride 57.00", a.Text)
	require.Equal(t, []hub.Fact{
		{App: "metro_hail", Functionality: "ride.fare", Step: "m", Pointer: "/fare", Value: []byte("51.80")},
		{App: "quick_ride", Functionality: "ride.fare", Step: "q", Pointer: "/fare", Value: []byte("57.00")},
	}, a.Facts)
	require.Empty(t, asked.kinds())
	require.False(t, a.Refused)
}

func TestIrreversibleIsAskedWithExactArguments(t *testing.T) {
	const plan = `{"steps":[{"id":"s","do":"call","functionality":"mail.send","args":{"to":"bob@example.test","body":"hi"}}],"answer":{"template":["Sent."]}}`
	for name, c := range map[string]struct {
		person *person
		want   int
		status isc.Status
	}{
		"denied":  {&person{}, 0, isc.StatusRefused},
		"allowed": {&person{answer: saysYes}, 1, isc.StatusDone},
	} {
		t.Run(name, func(t *testing.T) {
			post := &postOffice{}
			s := open(t, hub.Config{Apps: []spoke.App{post.app()}, Consent: c.person, Planner: plans(map[string]string{"mail bob@example.test": plan})})
			a, err := s.Ask(t.Context(), "mail bob@example.test")
			require.NoError(t, err)
			require.Equal(t, []string{"irreversible"}, c.person.kinds(), a.Text)
			require.JSONEq(t, `{"to":"bob@example.test","body":"hi"}`, string(c.person.asked[0].Payload))
			require.Len(t, post.sent(), c.want)
			require.Equal(t, c.status, a.Steps[0].Status)
		})
	}
}

func TestCollaborationGoesThroughConsent(t *testing.T) {
	const plan = `{"steps":[{"id":"s","do":"call","functionality":"mail.attach","args":{"text":"tax.pdf"}}],"answer":{"step":"s","pointer":"/text"}}`
	files, p := &cabinet{}, &person{answer: saysYes}
	s := open(t, hub.Config{Apps: []spoke.App{(&postOffice{}).app(), files.app()}, Consent: p, Planner: plans(map[string]string{"attach": plan})})
	a, err := watch(t, s, "attach"), error(nil)
	require.NoError(t, err)
	require.Equal(t, []string{"tax.pdf"}, files.reads(), a.Text)
	require.Equal(t, []string{"collaborate", "collaborate", "deliver"}, p.kinds())
	require.Contains(t, a.Text, "attached")

	p.answer = nil
	a, err = s.Ask(t.Context(), "attach")
	require.NoError(t, err)
	require.Len(t, files.reads(), 1)
	require.Contains(t, a.Text, "refused")
}
