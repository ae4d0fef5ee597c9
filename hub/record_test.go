package hub_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/isolategpt/isolategpt/hub"
	"github.com/isolategpt/isolategpt/isc"
)

func TestRecordsAreWrittenAsTheirTagsSay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.Just(""), rapid.StringMatching(`[a-z "\\<>&]*`))
		r := hub.Record{
			Seq: rapid.Int().Draw(t, "seq"), Time: time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "time"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns")).UTC(),
			Session: text.Draw(t, "session"), Run: text.Draw(t, "run"), Event: text.Draw(t, "event"), Detail: text.Draw(t, "detail"),
			Decision: text.Draw(t, "decision"), By: text.Draw(t, "by"), Rule: text.Draw(t, "rule"), Reason: text.Draw(t, "reason"),
			App: rapid.SampledFrom([]isc.AppID{"", "mail", "vanilla"}).Draw(t, "app"), Size: rapid.Int().Draw(t, "size"), Prev: text.Draw(t, "prev"), Hash: text.Draw(t, "hash"),
		}
		if rapid.Bool().Draw(t, "digests") {
			r.Digest, r.Shown = isc.DigestOf([]byte(r.Run)), isc.DigestOf([]byte(r.Event))
		}
		type plain hub.Record // without the method
		want, err := json.Marshal(plain(r))
		require.NoError(t, err)
		got, err := json.Marshal(r)
		require.NoError(t, err)
		require.Equal(t, string(want), string(got))
	})
}
