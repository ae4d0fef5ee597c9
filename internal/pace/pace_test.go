package pace_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/isolategpt/isolategpt/internal/pace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Over any span, no more is admitted than a burst and the rate.
func TestPaceHoldsOverAnySpan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const burst, each = 20, 5 * time.Millisecond
		b := pace.Bucket{Burst: burst, Each: each}
		start := time.Unix(1_000_000, 0)
		now, taken := start, 0
		for range 300 {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(2*each)).Draw(t, "pause")))
			n := rapid.IntRange(1, 4).Draw(t, "units")
			now = now.Add(b.Take(n, now))
			taken += n
			if most := burst + int(now.Sub(start)/each); taken > most {
				t.Fatalf("%d units within %s", taken, now.Sub(start))
			}
		}
	})
}

func TestABurstDoesNotWait(t *testing.T) {
	b := pace.Bucket{Burst: 3, Each: time.Second}
	now := time.Unix(1_000_000, 0)
	require.Zero(t, b.Take(3, now))
	require.Equal(t, 2*time.Second, b.Take(2, now))
	require.Zero(t, b.Take(3, now.Add(time.Minute)), "after a rest it is full again")
}

func TestARestEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		require.NoError(t, pace.Rest(t.Context(), 0))
		require.Zero(t, time.Since(began))
		require.NoError(t, pace.Rest(t.Context(), time.Second))
		require.Equal(t, time.Second, time.Since(began))
		ctx, cancel := context.WithCancelCause(t.Context())
		stop := errors.New("stop")
		cancel(stop)
		require.Equal(t, stop, pace.Rest(ctx, time.Second))
	})
}
