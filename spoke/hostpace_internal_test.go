package spoke

import (
	"context"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/isolategpt/isolategpt/isc"
)

// P9: a process that floods its host side is slowed, and then closed.
func TestP9AFloodIsSlowedThenClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := fetchHost(t, nil)
		ours, theirs := net.Pipe()
		done := make(chan error, 1)
		go func() { done <- h.serveChannel(t.Context(), ours); _ = ours.Close() }()
		client := newHostClient(theirs, func(error) {})
		defer client.close()
		began := time.Now()
		call := func() error {
			_, err := client.call(t.Context(), hostCall{Forget: &wireQuery{}})
			return err
		}
		for range paceBurst {
			require.NoError(t, call())
		}
		require.Zero(t, time.Since(began), "a burst is not slowed")
		for range maxHostCalls - paceBurst {
			require.NoError(t, call())
		}
		require.Equal(t, (maxHostCalls-paceBurst)*paceInterval, time.Since(began))
		require.Error(t, call())
		require.Equal(t, errFlood, <-done)
		_, err := theirs.Read(make([]byte, 1))
		require.ErrorIs(t, err, io.EOF, "the channel is closed, which ends the spoke")
	})
}

func TestATaskHasItsOwnNumberOfCallsAndNoNewBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := fetchHost(t, nil)
		for range 3 {
			for range maxHostCalls / 2 {
				require.NoError(t, h.admit(t.Context()))
			}
			h.begin(isc.Task{})
		}
		began := time.Now()
		require.NoError(t, h.admit(t.Context()))
		require.Equal(t, paceInterval, time.Since(began))
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errClosed)
		require.Equal(t, errClosed, h.admit(ctx), "it does not hold the end up")
	})
}

// Over any span, no more calls are admitted than a burst and the rate.
func TestPaceHoldsOverAnySpan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p pace
		start := time.Unix(1_000_000, 0)
		now := start
		for n := 1; n <= 1500; n++ {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(2*paceInterval)).Draw(t, "pause")))
			wait, err := p.next(now)
			if err != nil {
				t.Fatal(err)
			}
			now = now.Add(wait) // one call after another, as a channel is served
			if most := paceBurst + int(now.Sub(start)/paceInterval); n > most {
				t.Fatalf("%d calls within %s", n, now.Sub(start))
			}
		}
	})
}
