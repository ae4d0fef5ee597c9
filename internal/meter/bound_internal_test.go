package meter

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestTheNearerItsBoundTheSoonerAProcessIsLookedAt(t *testing.T) {
	b := Bound{Memory: 256 << 20, Threads: 512}
	for name, tc := range map[string]struct {
		bound      Bound
		now, last  Reading
		pause      time.Duration
		busy, idle time.Duration
	}{
		"it holds little":      {b, Reading{10 << 20, 8}, Reading{10 << 20, 8}, 0, 7 * time.Millisecond, 40 * time.Millisecond},
		"it stays as it is":    {b, Reading{10 << 20, 8}, Reading{10 << 20, 8}, 160 * time.Millisecond, 7 * time.Millisecond, lookIdle},
		"it grows":             {b, Reading{12 << 20, 8}, Reading{10 << 20, 8}, lookIdle, 7 * time.Millisecond, 7 * time.Millisecond},
		"it starts threads":    {b, Reading{10 << 20, 18}, Reading{10 << 20, 8}, lookIdle, 7 * time.Millisecond, 7 * time.Millisecond},
		"it shrinks":           {b, Reading{2 << 20, 2}, Reading{10 << 20, 8}, lookIdle, 7 * time.Millisecond, lookIdle},
		"memory is short":      {b, Reading{240 << 20, 8}, Reading{240 << 20, 8}, 0, 4 * time.Millisecond, 40 * time.Millisecond},
		"memory is out":        {b, Reading{256 << 20, 8}, Reading{200 << 20, 8}, 0, lookSoon, lookSoon},
		"threads are out":      {b, Reading{10 << 20, 510}, Reading{10 << 20, 8}, 0, lookSoon, lookSoon},
		"threads do not count": {Bound{Memory: 1 << 40}, Reading{10 << 20, 5000}, Reading{10 << 20, 5000}, 0, lookBusy, 40 * time.Millisecond},
		"memory does not":      {Bound{Threads: 1 << 20}, Reading{1 << 40, 2}, Reading{1 << 40, 2}, 0, lookBusy, 40 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, tc.bound.judge(tc.now))
			require.Equal(t, tc.busy, tc.bound.busy(tc.now))
			require.Equal(t, tc.idle, tc.bound.idle(tc.now, tc.last, tc.pause))
		})
	}
}

func TestLooksAreBounded(t *testing.T) {
	reading := rapid.Custom(func(t *rapid.T) Reading {
		return Reading{rapid.Int64Range(0, 1<<50).Draw(t, "memory"), rapid.IntRange(1, 1<<22).Draw(t, "threads")}
	})
	rapid.Check(t, func(t *rapid.T) {
		b := Bound{rapid.Int64Range(0, 1<<46).Draw(t, "memory"), rapid.IntRange(0, 1<<20).Draw(t, "threads")}
		now, last := reading.Draw(t, "now"), reading.Draw(t, "last")
		busy := b.busy(now)
		require.True(t, lookSoon <= busy && busy <= lookBusy, busy)
		idle := b.idle(now, last, time.Duration(rapid.Int64Range(0, int64(time.Minute)).Draw(t, "pause")))
		require.True(t, lookSoon <= idle && idle <= lookIdle, idle)
	})
}
