package child

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Whatever the sizes of the reads: after a second of reading and resting no more
// than the burst and a second's bytes were read.
func TestPaceBoundsWhatIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p pace
		start := time.Unix(1_000_000, 0)
		now, read := start, 0
		for now.Sub(start) < time.Second {
			n := rapid.IntRange(1, 4<<10).Draw(t, "n")
			read += n
			now = now.Add(p.after(n, now) + time.Duration(rapid.IntRange(0, 1000).Draw(t, "work"))*time.Microsecond)
		}
		require.LessOrEqual(t, read, paceRate+paceBurst+4<<10)
	})
}

func TestPaceLetsALittleThroughAtOnce(t *testing.T) {
	var p pace
	now := time.Unix(1_000_000, 0)
	require.Zero(t, p.after(paceBurst, now))
	require.Equal(t, time.Second, p.after(paceRate, now))
	require.Zero(t, p.after(paceBurst, now.Add(time.Hour)), "a rest fills it again")
}
