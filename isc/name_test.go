package isc_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestA6NamesThatDeceiveAreRefused(t *testing.T) {
	for _, id := range []string{
		"", " mail", "mail ", "Mail", "mail/x", "m\u0430il", "1mail", "-mail", "mail\n", "ｍail", "mail\u200b", "ſend",
		strings.Repeat("a", 65), "a:b",
	} {
		require.Error(t, isc.AppID(id).Validate(), "%q", id)
		require.Error(t, isc.FunctionalityName(id).Validate(), "%q", id)
		var got isc.AppID
		require.True(t, got.UnmarshalText([]byte(id)) != nil || id == "", "%q", id)
		require.Empty(t, got)
	}
	for _, id := range []string{"mail", "app.mail", "a_b-c.d", strings.Repeat("a", 64)} {
		require.NoError(t, isc.AppID(id).Validate(), id)
		require.NoError(t, isc.FunctionalityName(id).Validate(), id)
	}
}

func TestA6ReservedIDsAreRefused(t *testing.T) {
	for _, id := range []string{
		"hub", "hub.consent", "hub-x", "hub_x", "user", "system", "system-app", "memory", "model", "admin", "root",
		"operator", "isolategpt", "isolategpt.mail", "sy5tem", "mode1", "r00t", "rnemory", "adm1n",
	} {
		require.ErrorContains(t, isc.AppID(id).Validate(), "reserved", id)
	}
	for _, id := range []string{"github", "hubspot", "user-notes", "memory-game", "modelling"} {
		require.NoError(t, isc.AppID(id).Validate(), id)
	}
	require.NoError(t, isc.FunctionalityName("user").Validate(), "only apps have reserved ids")
}

func TestLookAlike(t *testing.T) {
	for _, pair := range [][2]string{
		{"send", "5end"}, {"mail", "rnail"}, {"mail", "mai1"}, {"web", "vveb"}, {"foo", "f0o"}, {"lin", "iin"},
	} {
		require.True(t, isc.LookAlike(pair[0], pair[1]), pair)
		require.True(t, isc.LookAlike(pair[1], pair[0]), pair)
	}
	for _, pair := range [][2]string{{"send", "send"}, {"a-b", "a_b"}, {"a.b", "a-b"}, {"mail", "mall2"}} {
		require.False(t, isc.LookAlike(pair[0], pair[1]), pair)
	}
}

func TestZeroValuesAreTheSafeOnes(t *testing.T) {
	var e isc.Effect
	require.Equal(t, isc.Irreversible, e)
	_, err := json.Marshal(isc.Status(0))
	require.Error(t, err)
	_, err = json.Marshal(isc.TaskKind(0))
	require.Error(t, err)
	_, err = json.Marshal(isc.Role(0))
	require.Error(t, err)
	_, err = json.Marshal(isc.Handle{})
	require.Error(t, err)
	require.True(t, isc.Digest{}.IsZero())
	require.True(t, isc.Handle{}.IsZero())
	require.False(t, isc.Role(0).IsTarget())
	require.False(t, isc.Label{}.IsTrusted())
	var none *isc.Format
	for _, f := range []*isc.Format{none, {}} {
		_, err = f.Check([]byte(`{}`))
		require.ErrorIs(t, err, isc.ErrMismatch)
		closed, open := f.Closed()
		require.False(t, closed)
		require.Equal(t, []string{""}, open)
		require.Nil(t, f.Schema())
		require.Nil(t, f.Bare())
		require.Nil(t, f.Fields())
		require.Nil(t, f.Notes())
		require.True(t, f.Digest().IsZero())
		_, ok := f.At("")
		require.False(t, ok)
		raw, merr := f.MarshalJSON()
		require.NoError(t, merr)
		require.Equal(t, "null", string(raw))
	}
}

func TestEnumsHaveStrictNames(t *testing.T) {
	var e isc.Effect
	for _, bad := range []string{"", "Read", "READ", " read", "reading", "0"} {
		require.Error(t, e.UnmarshalText([]byte(bad)), bad)
	}
	for _, want := range []isc.Effect{isc.Irreversible, isc.Write, isc.Read} {
		text, err := want.MarshalText()
		require.NoError(t, err)
		require.NoError(t, e.UnmarshalText(text))
		require.Equal(t, want, e)
		require.Equal(t, string(text), want.String())
	}
	require.Equal(t, "invalid effect 9", isc.Effect(9).String())
	require.Equal(t, "budget", isc.StatusBudget.String())
	require.Equal(t, "decide", isc.TaskDecide.String())
	require.Equal(t, "destination", isc.Destination.String())
}

func TestC3HandlesCannotBeGuessedOrForged(t *testing.T) {
	seen := map[isc.Handle]bool{}
	for range 1000 {
		h := isc.NewHandle()
		require.False(t, seen[h])
		seen[h] = true
		text, err := h.MarshalText()
		require.NoError(t, err)
		require.Len(t, text, 22)
		require.NotContains(t, h.String(), string(text), "a log does not give a handle away")
		var back isc.Handle
		require.NoError(t, back.UnmarshalText(text))
		require.Equal(t, h, back)
	}
	good, err := isc.NewHandle().MarshalText()
	require.NoError(t, err)
	text := string(good)
	for _, bad := range []string{
		"", text[1:], text + "A", text[:21] + "!", text[:21] + "B", // not canonical: bits beyond the 128 are set
		strings.Repeat("=", 22), "mail",
	} {
		if bad == text {
			continue
		}
		var h isc.Handle
		require.Error(t, h.UnmarshalText([]byte(bad)), bad)
		require.True(t, h.IsZero())
	}
}

func TestDigestText(t *testing.T) {
	d := isc.DigestOf([]byte(`{}`))
	require.Equal(t, "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a", d.String())
	var back isc.Digest
	require.NoError(t, back.UnmarshalText([]byte(d.String())))
	require.Equal(t, d, back)
	for _, bad := range []string{"", "sha256:", d.String()[1:], strings.ToUpper(d.String()), d.String() + "0", "sha256:" + strings.Repeat("g", 64)} {
		require.Error(t, back.UnmarshalText([]byte(bad)), bad)
	}
}

func TestLabelsJoin(t *testing.T) {
	base := rapid.Custom(func(t *rapid.T) isc.Label {
		l := rapid.SampledFrom([]isc.Label{
			{}, isc.UserLabel(), isc.HubLabel(), isc.AppLabel("a"), isc.AppLabel("b"), isc.AppLabel("c"),
		}).Draw(t, "label")
		if rapid.Bool().Draw(t, "sensitive") {
			l = l.Sensitive()
		}
		return l
	})
	label := rapid.Custom(func(t *rapid.T) isc.Label {
		l := base.Draw(t, "first")
		for _, m := range rapid.SliceOfN(base, 0, 3).Draw(t, "more") {
			l = l.Join(m)
		}
		return l
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := label.Draw(t, "a"), label.Draw(t, "b"), label.Draw(t, "c")
		require.Equal(t, a.Join(b), b.Join(a))
		require.Equal(t, a.Join(b).Join(c), a.Join(b.Join(c)))
		require.Equal(t, a, a.Join(a))
		ab := a.Join(b)
		require.Equal(t, a.IsTrusted() && b.IsTrusted(), ab.IsTrusted(), "trust only shrinks")
		require.Equal(t, a.IsSensitive() || b.IsSensitive(), ab.IsSensitive())
		require.Subset(t, ab.Sources(), a.Sources())
		require.Len(t, ab.Apps(), len(ab.Sources())-count(ab.Sources(), isc.SourceUser, isc.SourceHub))
	})
	require.False(t, isc.UserLabel().From(isc.SourceModel).IsTrusted())
	require.True(t, isc.UserLabel().From(isc.SourceHub).IsTrusted())
}

func count(list []isc.Source, of ...isc.Source) int {
	n := 0
	for _, s := range list {
		for _, o := range of {
			if s == o {
				n++
			}
		}
	}
	return n
}
