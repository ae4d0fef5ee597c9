package wasm_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
	"github.com/isolategpt/isolategpt/spoke/wasm"
	"github.com/isolategpt/isolategpt/spoke/wasm/internal/module"
)

func ask(t *testing.T, i *spoke.Instance) (isc.ToHub, error) {
	t.Helper()
	require.NoError(t, i.Conn.Send(t.Context(), isc.Task{Kind: isc.TaskCall, Functionality: rawCall.Functionality, Body: rawCall.Body}))
	return i.Conn.Recv(t.Context())
}

func TestManySpokesOfOneApp(t *testing.T) {
	a, err := openRaw(t, raw(saysManifest, answers), wasm.Config{})
	require.NoError(t, err)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 5 {
				i, err := wasm.Launcher{}.Launch(t.Context(), spoke.Spec{App: a})
				if err != nil {
					t.Error(err)
					return
				}
				for range 3 {
					if m, err := ask(t, i); err != nil || m.(isc.Result).Status != isc.StatusDone {
						t.Error(m, err)
					}
				}
				if err := i.Conn.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

func TestACrashLeavesTheOtherSpokesAlone(t *testing.T) {
	bad, err := openRaw(t, raw(saysManifest, module.Trap()), wasm.Config{})
	require.NoError(t, err)
	good, err := openRaw(t, raw(saysManifest, answers), wasm.Config{})
	require.NoError(t, err)
	one, err := wasm.Launcher{}.Launch(t.Context(), spoke.Spec{App: bad})
	require.NoError(t, err)
	two, err := wasm.Launcher{}.Launch(t.Context(), spoke.Spec{App: good})
	require.NoError(t, err)
	_, err = ask(t, one)
	var died *wasm.EndedError
	require.ErrorAs(t, err, &died)
	m, err := ask(t, two)
	require.NoError(t, err)
	require.Equal(t, isc.StatusDone, m.(isc.Result).Status)
	require.NoError(t, one.Conn.Close())
	require.NoError(t, two.Conn.Close())
}

func TestSingleReplacesAnInstanceThatEnded(t *testing.T) {
	// What it grew by stays; it answers while there is room, then it traps.
	grows := slices.Concat(module.Const(100), module.Grow(), module.Const(-1), []byte{0x46, 0x04, 0x40}, module.Trap(), []byte{0x0b}, answers)
	a, err := openRaw(t, raw(saysManifest, grows), wasm.Config{Memory: 16 << 20})
	require.NoError(t, err)
	s := a.Single()
	require.Equal(t, a.Manifest().Digest(), s.Manifest().Digest())
	for range 2 {
		for range 2 {
			got, err := s.Handle(t.Context(), rawCall)
			require.NoError(t, err)
			require.JSONEq(t, `{"text":"done"}`, string(got))
		}
		_, err := s.Handle(t.Context(), rawCall)
		var died *wasm.EndedError
		require.ErrorAs(t, err, &died)
	}
	_, err = s.Handle(t.Context(), rawCall)
	require.NoError(t, err)
}
