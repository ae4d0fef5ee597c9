package meter_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/internal/meter"
)

const mib = 1 << 20

// watched is a process of a test: what it holds is what say says.
type watched struct {
	*meter.Watch
	say    func(kib, threads int)
	killed chan time.Time
}

func watch(t testing.TB, w *meter.Watcher, b meter.Bound) watched {
	name, say := status(t)
	m, err := meter.OpenFile(name)
	require.NoError(t, err)
	killed := make(chan time.Time, 1)
	return watched{w.Watch(m, b, func() { killed <- time.Now() }), say, killed}
}

// seenAfter is how long it takes that more than the bound is seen.
func (w watched) seenAfter(kib, threads int) time.Duration {
	began := time.Now()
	w.say(kib, threads)
	return (<-w.killed).Sub(began)
}

func TestABusyProcessIsLookedAtSoonAndAnIdleOneSeldom(t *testing.T) {
	for name, tc := range map[string]struct {
		meanwhile   func(one watched)
		least, most time.Duration
	}{
		"it is busy from the start": {func(watched) { time.Sleep(time.Second) }, 0, 20 * time.Millisecond},
		"idle":                      {func(one watched) { one.Busy(false); time.Sleep(1100 * time.Millisecond) }, 100 * time.Millisecond, 250 * time.Millisecond},
		"idle, then busy": {func(one watched) {
			one.Busy(false)
			time.Sleep(time.Second)
			one.Busy(true)
		}, 0, 5 * time.Millisecond},
		"idle, then busy for a moment": {func(one watched) {
			one.Busy(false)
			time.Sleep(time.Second)
			one.Busy(true)
			one.Busy(false)
		}, 0, 5 * time.Millisecond},
		"idle, but it grows": {func(one watched) {
			one.Busy(false)
			time.Sleep(time.Second)
			one.say(2048, 1)
			time.Sleep(50 * time.Millisecond)
		}, 0, 40 * time.Millisecond},
	} {
		for what, more := range map[string]struct {
			kib, threads int
			err          error
		}{"memory": {65 << 10, 1, meter.ErrMemory}, "threads": {1024, 513, meter.ErrThreads}} {
			t.Run(name+"/"+what, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var w meter.Watcher
					one := watch(t, &w, meter.Bound{Memory: 64 * mib, Threads: 512})
					defer one.End()
					tc.meanwhile(one)
					took := one.seenAfter(more.kib, more.threads)
					require.True(t, tc.least <= took && took <= tc.most, took)
					require.ErrorIs(t, one.Err(), more.err)
				})
			})
		}
	}
}

func TestAProcessIsUnboundUntilItIsBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w meter.Watcher
		one := watch(t, &w, meter.Bound{})
		defer one.End()
		one.say(99<<20, 9999)
		time.Sleep(time.Second)
		require.NoError(t, one.Err())
		require.Empty(t, one.killed)
		one.Bind(meter.Bound{Memory: 64 * mib})
		<-one.killed
		require.ErrorIs(t, one.Err(), meter.ErrMemory)
		time.Sleep(time.Second)
		require.Empty(t, one.killed, "killed once")
	})
}

func TestOneThatEndsIsNotLookedAtAndOthersAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w meter.Watcher
		for range 2 { // the watcher can be used again
			a, b := watch(t, &w, meter.Bound{Memory: 64 * mib}), watch(t, &w, meter.Bound{Memory: 64 * mib})
			a.End()
			a.End()
			a.Busy(true)
			a.Bind(meter.Bound{Memory: 1})
			a.say(65<<10, 1)
			time.Sleep(time.Second)
			require.Empty(t, a.killed)
			require.NoError(t, a.Err())
			require.Less(t, b.seenAfter(65<<10, 1), 20*time.Millisecond)
			b.End()
		}
	})
}

func TestAWatcherServesManyAtOnce(t *testing.T) {
	var w meter.Watcher
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for range 20 {
				one := watch(t, &w, meter.Bound{Memory: 64 * mib})
				one.Busy(false)
				one.Busy(true)
				one.say(65<<10, 1)
				<-one.killed
				one.End()
			}
		})
	}
	all.Wait()
}
