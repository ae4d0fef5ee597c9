package spoke_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
)

const small = 64 << 20

// Limits that a process sets itself do not hold against these.
func TestMemoryLimitHolds(t *testing.T) {
	cfg := quick
	cfg.Memory = small
	for name, l := range map[string]*spoke.ProcessLauncher{"namespaces": spoke.Process(cfg), "flat": spoke.Process(cfg).Flat()} {
		for attack, what := range map[isc.FunctionalityName]string{"reservations": "AgainstReservations", "tables": "PageTablesCount"} {
			t.Run(what+"/"+name, func(t *testing.T) {
				i, err := l.Launch(t.Context(), spoke.Spec{App: hog()})
				require.NoError(t, err)
				defer func() { _ = i.Conn.Close() }()
				require.True(t, i.Isolation.Has.Has(isc.MemoryLimit))
				killedFor(t, i, attack, spoke.ErrMemory)
			})
		}
	}
}

// A superuser's threads are not bounded by a limit.
func TestThreadsAreBounded(t *testing.T) {
	cfg := quick
	cfg.Memory = 16 << 30 // a C library reserves a stack for each
	i, err := spoke.Process(cfg).Flat().Launch(t.Context(), spoke.Spec{App: hog()})
	require.NoError(t, err)
	defer func() { _ = i.Conn.Close() }()
	killedFor(t, i, "threads", spoke.ErrThreads)
}

func TestMemoryLimitHoldsASpokeWithoutItsFirstThreadIsKilled(t *testing.T) {
	i := start(t, quick, hog())
	e := killedFor(t, i, "headless", nil)
	require.ErrorContains(t, e, "could not be seen")
}

func killedFor(t *testing.T, i *spoke.Instance, attack isc.FunctionalityName, cause error) *spoke.ProcessError {
	t.Helper()
	require.NoError(t, i.Conn.Send(t.Context(), isc.Task{Kind: isc.TaskCall, Functionality: attack, Body: []byte(`{"text":""}`)}))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	m, err := i.Conn.Recv(ctx)
	e, ok := errors.AsType[*spoke.ProcessError](err)
	require.True(t, ok, "%v %v", m, err)
	require.Equal(t, "signal: killed", e.State, e.Output)
	if cause != nil {
		require.ErrorIs(t, err, cause)
		require.ErrorContains(t, err, cause.Error())
	}
	return e
}

// The limit is claimed only if the watch saw what it must see.
func TestMemoryLimitOfASpokeIsNotClaimedWithoutTheWatch(t *testing.T) {
	status := filepath.Join(t.TempDir(), "status")
	require.NoError(t, os.WriteFile(status, []byte("RssAnon:\t0 kB\nRssShmem:\t0 kB\nVmPTE:\t40 kB\nVmSwap:\t0 kB\nThreads:\t1\n"), 0o600))
	for name, tc := range map[string]struct {
		spoil func(*spoke.ProcessLauncher) *spoke.ProcessLauncher
		why   string
	}{
		"it looks elsewhere":   {func(l *spoke.ProcessLauncher) *spoke.ProcessLauncher { return l.SeenAt(status) }, "seems to hold no memory"},
		"it cannot look":       {func(l *spoke.ProcessLauncher) *spoke.ProcessLauncher { return l.SeenAt(status + "-none") }, "memory-watch: open "},
		"it sees no process's": {func(l *spoke.ProcessLauncher) *spoke.ProcessLauncher { return l.SeenAt("/dev/null") }, "does not say what it holds"},
		"it sees no hold": {func(l *spoke.ProcessLauncher) *spoke.ProcessLauncher {
			return l.Unproven(errors.New("not seen"))
		}, "memory-watch: not seen"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := tc.spoil(spoke.Process(quick)).Launch(t.Context(), spoke.Spec{App: jail("jail")})
			unmet, ok := errors.AsType[*spoke.UnmetError](err)
			require.True(t, ok, "%v", err)
			require.Equal(t, isc.MemoryLimit, unmet.Missing)
			require.ErrorContains(t, err, tc.why)

			cfg := quick
			cfg.Waive = isc.MemoryLimit
			i, err := tc.spoil(spoke.Process(cfg)).Launch(t.Context(), spoke.Spec{App: jail("jail")})
			require.NoError(t, err)
			defer func() { _ = i.Conn.Close() }()
			require.False(t, i.Isolation.Has.Has(isc.MemoryLimit))
			answer(t, i, "pid", "")
		})
	}
	require.Empty(t, children())
}

// greedy is a separate program whose initialisation takes tables.
const greedy = `package main

import (
	"syscall"
	"time"
)

func init() {
	var pipe [2]int
	_ = syscall.Pipe(pipe[:])
	for i := range uintptr(15000) {
		at, _, _ := syscall.Syscall6(syscall.SYS_MMAP, 1<<44+i<<30, 4096, syscall.PROT_READ, 0x4022, ^uintptr(0), 0)
		_, _, _ = syscall.Syscall(syscall.SYS_WRITE, uintptr(pipe[1]), at, 1)
		_, _ = syscall.Read(pipe[0], make([]byte, 1))
	}
	time.Sleep(time.Hour)
}

func main() {}
`

func TestMemoryLimitHoldsOfAProcessThatIsKeptReady(t *testing.T) {
	cfg := quick
	cfg.Memory, cfg.Warm = small, 1
	cfg.Program = compile(t, greedy, "CGO_ENABLED=0")
	l := spoke.Process(cfg)
	defer func() { require.NoError(t, l.Close()) }()
	_, err := l.Probe(t.Context())
	require.NoError(t, err)
	require.Eventually(t, func() bool { return l.Failures() > 0 }, 20*time.Second, time.Millisecond)
	_, err = l.Launch(t.Context(), spoke.Spec{App: stub(t)})
	require.ErrorIs(t, err, spoke.ErrMemory)
}
