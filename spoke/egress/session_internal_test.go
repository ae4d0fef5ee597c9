package egress

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A connection ends when nothing has moved for a time, and not before.
func TestWhatMovesIsNotIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := newSession(cancel, ProxyConfig{Idle: time.Second, MaxBytes: 10})
		defer s.end()
		for range 10 {
			time.Sleep(900 * time.Millisecond)
			require.NoError(t, s.moved(1))
			require.NoError(t, s.moved(0))
		}
		require.NoError(t, ctx.Err())
		time.Sleep(time.Second)
		synctest.Wait()
		require.Error(t, ctx.Err())
		require.Equal(t, errUsedUp, s.moved(1))
	})
}
