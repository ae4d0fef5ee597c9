package permission_test

import (
	"context"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/permission"
)

// model is a gate for one user that forgets nothing and is easily read.
type model struct {
	session, permanent map[string]bool // by function and target
	denied             map[string]bool // of the run
	deniedEver         map[string]bool // of the session
}

func newModel() model {
	return model{map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}}
}

func TestP8GateAgreesWithItsModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var answer permission.Decision
		asked := false
		prompter := permission.PrompterFunc(func(_ context.Context, r permission.Request) (permission.Answer, error) {
			asked = true
			return r.Answer(answer), nil
		})
		g, err := permission.NewGate(permission.Config{Prompter: prompter, Policy: ask, Store: permission.InMemoryStore()})
		require.NoError(t, err)
		m := newModel()
		s := g.Session("alice")
		run := s.Run(permission.RunConfig{MaxPrompts: 1000})
		t.Repeat(map[string]func(*rapid.T){
			"check": func(t *rapid.T) {
				q := question()
				q.Kind = rapid.SampledFrom([]permission.Kind{permission.Collaborate, permission.Irreversible}).Draw(t, "kind")
				q.Functionality = isc.FunctionalityName(rapid.SampledFrom([]string{"f", "g"}).Draw(t, "f"))
				target := rapid.SampledFrom([]string{"inbox", "sent"}).Draw(t, "target")
				q.Payload = json.RawMessage(`{"folder":"` + target + `"}`)
				answer = permission.Decision(rapid.IntRange(0, 3).Draw(t, "answer"))
				asked = false
				v := run.Check(t.Context(), q)
				m.check(t, q, v, asked, answer)
			},
			"new run": func(*rapid.T) {
				run = s.Run(permission.RunConfig{MaxPrompts: 1000})
				m.denied = map[string]bool{}
			},
			"new session": func(*rapid.T) {
				s.Close()
				s = g.Session("alice")
				run = s.Run(permission.RunConfig{MaxPrompts: 1000})
				m.session, m.denied, m.deniedEver = map[string]bool{}, map[string]bool{}, map[string]bool{}
			},
			"revoke all": func(t *rapid.T) {
				grants, err := s.Grants(t.Context())
				require.NoError(t, err)
				for _, g := range grants {
					require.NoError(t, s.Revoke(t.Context(), g.ID))
				}
				m.session, m.permanent = map[string]bool{}, map[string]bool{}
			},
		})
	})
}

func (m model) check(t *rapid.T, q permission.Question, v permission.Verdict, asked bool, answer permission.Decision) {
	key := q.Kind.String() + string(q.Functionality) + string(q.Payload)
	switch {
	case m.denied[key]:
		require.False(t, v.Allowed() || asked)
		return
	case m.session[key] || m.permanent[key]:
		require.True(t, v.Allowed() && !asked, "a grant covers it")
		return
	case !asked: // denied too often in this run, which only ever denies
		require.False(t, v.Allowed())
		return
	}
	offered := q.Kind != permission.Irreversible || answer == permission.AllowOnce
	if m.deniedEver[key] && answer == permission.AllowPermanent {
		offered = false
	}
	want := answer != permission.Deny && offered
	require.Equal(t, want, v.Allowed())
	switch {
	case !want:
		m.denied[key], m.deniedEver[key] = true, true
	case answer == permission.AllowSession:
		m.session[key] = true
	case answer == permission.AllowPermanent:
		m.permanent[key] = true
	}
}

// The digest is over everything that a person is shown: no field of a request
// may be added without a place in it.
func TestD1DigestCoversEveryField(t *testing.T) {
	require.Equal(t, 9+20, fields(reflect.TypeFor[permission.Request]()), "a field was added: put it into shownRequest")
	require.Equal(t, 5, fields(reflect.TypeFor[permission.Flow]()))
	require.Equal(t, 4, fields(reflect.TypeFor[permission.FlowInput]()))
	require.Equal(t, 4, fields(reflect.TypeFor[permission.PayloadField]()))
}

func fields(typ reflect.Type) int {
	n := 0
	for f := range typ.Fields() {
		if f.Anonymous {
			n += fields(f.Type)
		} else {
			n++
		}
	}
	return n
}

func TestTextsAreStrict(t *testing.T) {
	for k := permission.SelectApp; k <= permission.Irreversible; k++ {
		text, err := k.MarshalText()
		require.NoError(t, err)
		var back permission.Kind
		require.NoError(t, back.UnmarshalText(text))
		require.Equal(t, k, back)
	}
	var k permission.Kind
	var d permission.Decision
	var e permission.RulingEffect
	for _, bad := range []string{"", "Session", "one_time", "sess", "allow "} {
		require.Error(t, k.UnmarshalText([]byte(bad)))
		require.Error(t, d.UnmarshalText([]byte(bad)))
		require.Error(t, e.UnmarshalText([]byte(bad)))
	}
	_, err := permission.Kind(0).MarshalText()
	require.Error(t, err)
}
