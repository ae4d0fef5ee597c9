//go:build amd64 || arm64

package sandbox_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/internal/sandbox"
	"github.com/isolategpt/isolategpt/isc"
)

// The filter alone narrows what a program may execute, and is all that does: what
// it may read it could execute, itself to begin with.
func TestProgramsExecuteNothing(t *testing.T) {
	path := guest(t)
	for _, program := range []sandbox.Program{{Path: path, Static: true}, {Path: path}} {
		p := profile(false)
		p.Program = &program
		e := run(t, "landlock:become", p)
		require.True(t, e.Isolation.Has.Has(isc.NoExec|isc.DiesWithHub), e.detail("attempts"))

		e = run(t, "seccomp:become", p)
		require.Zero(t, e.Isolation.Has&(isc.NoExec|isc.DiesWithHub), e.detail("attempts"))
	}
}

// Of a process only its one execution is left, on the thread that has the signal
// at the parent's death.
func TestOnlyTheConfinedProgramIsExecuted(t *testing.T) {
	for _, what := range []string{"become elsewhere", "become another"} {
		p := profile(false)
		p.Program = &sandbox.Program{Path: guest(t), Static: true, Args: []string{"env"}}
		e := run(t, what, p)
		require.Empty(t, e.Err)
		require.False(t, e.state.Success())
		require.Contains(t, e.output, "not the program, or not the goroutine, that was confined")
	}
}

// What execution resets or gives back of what the process gave up: nothing.
func TestProgramStaysConfinedByExecution(t *testing.T) {
	for _, namespaces := range []bool{false, true} {
		words := []string{"signal", "capabilities", "huge", "core"}
		_, said := become(t, profile(namespaces), sandbox.Program{Path: guest(t)}, words...)
		for _, word := range words {
			require.Equal(t, "ok", said[word], word)
		}
	}
}

// Commands on descriptors that reach another process, or memory of the kernel's.
func TestForeignProgramKeepsToItsDescriptors(t *testing.T) {
	read, write := t.TempDir(), t.TempDir()
	for _, dir := range []string{read, write, filepath.Dir(read), filepath.Dir(write)} {
		require.NoError(t, os.Chmod(dir, 0o777))
	}
	file, socket := filepath.Join(read, "a"), filepath.Join(read, "socket")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	require.NoError(t, err)
	defer l.Close()
	require.NoError(t, os.Chmod(socket, 0o777))
	locks := []string{"lock=" + file, "locks=" + file, "watch=" + file}
	refused := []string{"pair=" + socket, "buffer", "pipesize", "futexes", "lease=" + file, "notify=" + read, "flags=" + file}
	for _, namespaces := range []bool{false, true} {
		t.Run(fmt.Sprint("namespaces ", namespaces), func(t *testing.T) {
			program := sandbox.Program{Path: guest(t), Read: []string{read}}
			words := slices.Concat(locks, refused, []string{"streams"})
			e, said := become(t, profile(namespaces), program, words...)
			require.True(t, e.Isolation.Has.Has(isc.NoNetwork|isc.NoPeers|isc.HubOnly), e.detail("attempts"))
			require.Equal(t, "ok", said["streams"])
			for _, word := range slices.Concat(locks, refused) {
				require.Equal(t, "operation not permitted", said[word], word)
			}

			program.Write = []string{write} // which needs locks
			_, said = become(t, profile(namespaces), program, words...)
			for _, word := range append(locks, "streams") {
				require.Equal(t, "ok", said[word], word)
			}
			for _, word := range refused {
				require.Equal(t, "operation not permitted", said[word], word)
			}
		})
	}
}
