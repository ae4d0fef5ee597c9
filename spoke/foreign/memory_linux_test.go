package foreign_test

import (
	"bufio"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
	"github.com/isolategpt/isolategpt/spoke/foreign"
)

// pieces takes a GiB that the limit of data forgets, and says before each piece
// how much it has, in MiB.
const pieces = `
import ctypes, mmap, sys
protect = ctypes.CDLL(None, use_errno=True).mprotect
piece, kept = 1 << 20, []
for i in range(1024):
    m = mmap.mmap(-1, piece, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    c = ctypes.c_char.from_buffer(m)
    ctypes.memset(ctypes.addressof(c), 1, piece)
    if protect(ctypes.c_void_p(ctypes.addressof(c)), ctypes.c_size_t(piece), mmap.PROT_READ):
        raise OSError(ctypes.get_errno())
    kept.append((m, c))
    print(i + 1, flush=True)
print("worked", flush=True)
input()
`

// tables takes no page but makes the system keep tables: a page of them for 2 MiB
// that are read and never written.
const tables = `
import ctypes, mmap
piece, kept = 1 << 30, []
for i in range(512):
    m = mmap.mmap(-1, piece, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000, prot=mmap.PROT_READ)
    m.madvise(mmap.MADV_NOHUGEPAGE)
    for at in range(0, piece, 2 << 20):
        m[at]
    kept.append(m)
print("worked", flush=True)
input()
`

// headless ends its first thread. What it then holds is in no file of its own.
const headless = `
import ctypes, platform, threading
def rest():
    import os, time
    time.sleep(2)
    print("worked", flush=True)
    os._exit(0)
threading.Thread(target=rest).start()
ctypes.CDLL(None).syscall(ctypes.c_long(60 if platform.machine() == "x86_64" else 93), ctypes.c_long(0))
`

func TestMemoryLimitOfAForeignProgramHolds(t *testing.T) {
	for name, text := range map[string]string{"in pieces made unwritable": pieces, "in tables": tables} {
		t.Run(name, func(t *testing.T) {
			cfg := python(t).script(t, "attack.py", text)
			cfg.Memory = foreign.MinMemory
			p := start(t, cfg)
			require.True(t, p.Isolation().Has.Has(isc.MemoryLimit))
			last := ""
			for lines := bufio.NewScanner(p.Stdout()); lines.Scan(); {
				last = lines.Text()
				require.NotEqual(t, "worked", last)
			}
			<-p.Done()
			var ended *spoke.ProcessError
			require.ErrorAs(t, p.Err(), &ended, p.Output())
			require.ErrorIs(t, p.Err(), foreign.ErrMemory, p.Output())
			require.ErrorContains(t, p.Err(), "signal: killed")
			if n, err := strconv.ParseInt(last, 10, 64); err == nil {
				t.Logf("it had %d MiB of %d", n, cfg.Memory>>20)
				require.Less(t, n<<20, 4*cfg.Memory) // a loaded machine may look late
			}
		})
	}
}

func TestMemoryLimitHoldsAProgramWithoutItsFirstThreadIsKilled(t *testing.T) {
	p := start(t, python(t).script(t, "headless.py", headless))
	require.Empty(t, output(t, p))
	require.ErrorContains(t, p.Err(), "signal: killed", p.Output())
}

// The limit is claimed only if the watch saw what it must see.
func TestMemoryLimitIsNotClaimedWithoutTheWatch(t *testing.T) {
	status := filepath.Join(t.TempDir(), "status")
	require.NoError(t, os.WriteFile(status, []byte("RssAnon:\t10 kB\nRssShmem:\t0 kB\nVmPTE:\t0 kB\nVmSwap:\t0 kB\nThreads:\t1\n"), 0o600))
	for name, tc := range map[string]struct{ status, why string }{
		"it looks elsewhere":   {status, "memory-watch: memory that its process held on purpose was not seen"},
		"it cannot look":       {status + "-none", "memory-watch: open "},
		"it sees no process's": {"/dev/null", "memory-watch: its status does not say what it holds"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := python(t).script(t, "echo.py", echo).SeenAt(tc.status)
			_, err := foreign.Start(t.Context(), cfg)
			var unmet *spoke.UnmetError
			require.ErrorAs(t, err, &unmet)
			require.Equal(t, isc.MemoryLimit, unmet.Missing)
			require.ErrorContains(t, err, "memory-limit")
			require.ErrorContains(t, err, tc.why)

			cfg.Waive |= isc.MemoryLimit
			p := start(t, cfg)
			require.False(t, p.Isolation().Has.Has(isc.MemoryLimit))
			require.NoError(t, p.Stdin().Close())
			require.Equal(t, "end\n", output(t, p))
		})
	}
}

func TestAStartIsGivenUpWhileTheWatchIsTried(t *testing.T) {
	status := filepath.Join(t.TempDir(), "status")
	require.NoError(t, os.WriteFile(status, []byte("RssAnon: 1 kB\nRssShmem: 0 kB\nVmPTE: 0 kB\nVmSwap: 0 kB\nThreads: 1\n"), 0o600))
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := foreign.Start(ctx, python(t).script(t, "echo.py", echo).SeenAt(status))
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

// BenchmarkStart is a start to the execution of the program, and its end.
func BenchmarkStart(b *testing.B) {
	cfg := foreign.Config{Path: program(b), Waive: waived()}
	for b.Loop() {
		p, err := foreign.Start(context.Background(), cfg)
		require.NoError(b, err)
		require.NoError(b, p.Close())
	}
}
