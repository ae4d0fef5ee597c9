package meter_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/internal/meter"
)

// status is a file that says what a process holds, and a way to change it.
func status(t testing.TB) (name string, say func(kib, threads int)) {
	name = filepath.Join(t.TempDir(), "status")
	say = func(kib, threads int) {
		text := fmt.Sprintf("Name:\tx\nRssAnon:\t%8d kB\nRssShmem:\t0 kB\nVmPTE:\t0 kB\nVmSwap:\t0 kB\nThreads:\t%6d\n", kib, threads)
		f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o600)
		require.NoError(t, err)
		_, err = f.WriteString(text) // of one length
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
	say(1024, 1)
	return name, say
}

func read(t *testing.T, text string) (meter.Reading, error) {
	name := filepath.Join(t.TempDir(), "status")
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	m, err := meter.OpenFile(name)
	require.NoError(t, err)
	defer m.Close()
	return m.Read()
}

func TestTheMeterCountsWhatTheSystemHoldsForAProcess(t *testing.T) {
	const rest = "VmPTE:\t4 kB\nVmSwap:\t 8 kB\nThreads:\t3\n"
	r, err := read(t, "Name:\tRssAnon: 7 kB\nRssAnon:\t 1 kB\nRssFile:\t99 kB\nRssShmem:\t2 kB\n"+rest)
	require.NoError(t, err)
	require.Equal(t, meter.Reading{Memory: 15 << 10, Threads: 3}, r)
}

func TestAStatusThatDoesNotSayIsAnError(t *testing.T) {
	const rest = "VmPTE:\t4 kB\nVmSwap:\t 8 kB\nThreads:\t3\n"
	for name, text := range map[string]string{
		"empty":           "",
		"half":            rest,
		"one is missing":  "RssAnon: 1 kB\n" + rest,
		"one twice":       "RssAnon: 1 kB\nRssAnon: 1 kB\n" + rest,
		"no number":       "RssAnon: x kB\nRssShmem: 0 kB\n" + rest,
		"negative":        "RssAnon: -1 kB\nRssShmem: 0 kB\n" + rest,
		"no unit":         "RssAnon: 1\nRssShmem: 0 kB\n" + rest,
		"too many":        "RssAnon: 99999999999999999999 kB\nRssShmem: 0 kB\n" + rest,
		"no threads":      "RssAnon: 1 kB\nRssShmem: 0 kB\nVmPTE: 4 kB\nVmSwap: 8 kB\nThreads: 0\n",
		"unit of threads": "RssAnon: 1 kB\nRssShmem: 0 kB\nVmPTE: 4 kB\nVmSwap: 8 kB\nThreads: 1 kB\n",
	} {
		t.Run(name, func(t *testing.T) {
			r, err := read(t, text)
			require.ErrorContains(t, err, "does not say what it holds")
			require.Zero(t, r)
		})
	}
}

func TestAHoldThatIsNotSeenProvesNothing(t *testing.T) {
	name, say := status(t)
	m, err := meter.OpenFile(name)
	require.NoError(t, err)
	defer m.Close()
	require.NoError(t, m.Prove(t.Context(), func() error { say(17<<10, 1); return nil }))

	ctx, cancel := context.WithCancelCause(t.Context())
	cause := fmt.Errorf("given up")
	cancel(cause)
	require.ErrorIs(t, m.Prove(ctx, func() error { return nil }), cause)
	require.ErrorIs(t, m.Prove(t.Context(), func() error { return cause }), cause)
	err = m.Prove(t.Context(), func() error { say(18<<10, 1); return nil })
	require.ErrorContains(t, err, "held on purpose was not seen: 17825792 bytes before, 18874368 then")
}

func FuzzRead(f *testing.F) {
	if text, err := os.ReadFile("/proc/self/status"); err == nil {
		f.Add(text)
	}
	f.Add([]byte("RssAnon: 1099511627775 kB\nRssShmem: 1099511627775 kB\nVmSwap: 1 kB\nVmPTE: 1 kB\nThreads: 1099511627775"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := read(t, string(text))
		require.GreaterOrEqual(t, r.Memory, int64(0))
		require.Equal(t, err == nil, r.Threads > 0)
	})
}
