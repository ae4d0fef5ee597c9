package wasm_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
	"github.com/isolategpt/isolategpt/spoke/wasm"
	"github.com/isolategpt/isolategpt/spoke/wasm/internal/module"
)

// patience is far more than anything takes that is bounded.
const patience = 30 * time.Second

// size is that of a bomb's code, in bytes. Under the race detector a smaller one
// has to do.
var size = func() int {
	if underRace {
		return 1<<16 - 64
	}
	return 1<<20 - 64
}()

var (
	i32     = []byte{module.I32}
	zero    = module.Const(0)
	store   = []byte{0x36, 0x02, 0x00}
	fill    = []byte{0xfc, 0x0b, 0x00}
	block   = []byte{0x02, 0x40}
	loop    = []byte{0x03, 0x40}
	end     = []byte{0x0b}
	brIf    = []byte{0x0d, 0x00}
	brTable = []byte{0x0e}
)

// repeated is code of about so many bytes.
func repeated(size int, code ...[]byte) []byte {
	one := slices.Concat(code...)
	return bytes.Repeat(one, size/len(one))
}

// plus is the app with more functions.
func plus(more ...module.Func) []byte {
	for i := range more {
		more[i].Name = fmt.Sprint("more", i)
	}
	return raw(saysManifest, answers, more...).Encode()
}

func body(code ...[]byte) module.Func { return module.Func{Body: slices.Concat(code...)} }

// quadratic is what an optimising compiler takes too long for: many values that
// live across many blocks.
func quadratic(values, blocks int) []byte {
	var begin, finish []byte
	for i := range values {
		begin = slices.Concat(begin, module.Const(int32(i)), module.Load(), []byte{0x21}, module.Uint(uint32(i)))
		finish = slices.Concat(finish, zero, module.Get(uint32(i)), store)
	}
	f := body(begin, bytes.Repeat(slices.Concat(block, module.Get(0), brIf, zero, module.Get(1), store, end), blocks), finish)
	f.Locals = values
	return plus(f)
}

// bombs are modules of at most 1 MiB that are made to cost a runtime a lot, and
// that no limit refuses.
func bombs() map[string][]byte {
	sixteen := module.Func{Results: bytes.Repeat(i32, 16), Body: bytes.Repeat(zero, 16)}
	return map[string][]byte{
		"values across blocks": quadratic(1900, size/18),
		"loops":                plus(body(repeated(size, loop, end))),
		"nested loops":         plus(body(repeated(size*2/3, loop), repeated(size/3, end))),
		"branches":             plus(body(block, repeated(size-8, zero, brIf), end)),
		"targets":              plus(body(block, zero, brTable, module.Uint(uint32(size-16)), make([]byte, size-15), end)),
		"calls":                plus(body(repeated(size, module.Call(3)))),
		"results":              plus(sixteen, body(repeated(size, module.Call(3), bytes.Repeat(module.Drop(), 16)))),
		"constants":            plus(body(repeated(size, zero, module.Drop()))),
		"functions":            plus(make([]module.Func, 1<<14-8)...),
		"bulk":                 plus(body(repeated(size, zero, zero, zero, fill))),
	}
}

// TestABombIsCheapInThisProgram holds that what nobody vouches for costs this
// program little to load: for the worst found, 1 s and 60 bytes of memory a byte.
func TestABombIsCheapInThisProgram(t *testing.T) {
	for name, code := range bombs() {
		t.Run(name, func(t *testing.T) {
			before := inUse()
			a, err := wasm.Open(t.Context(), code, wasm.Config{})
			require.NoError(t, err)
			require.Less(t, inUse(), before+int64(100*len(code)))
			require.NoError(t, a.Close())
		})
	}
}

func inUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestOpenReturnsWhenItsContextEnds holds that nobody waits for a compiler that
// takes long, and that nobody waits for those who wait.
func TestOpenReturnsWhenItsContextEnds(t *testing.T) {
	bomb := quadratic(600, 600)
	if underRace {
		bomb = quadratic(200, 200)
	}
	soon := func() context.Context {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		t.Cleanup(cancel)
		return ctx
	}
	_, err := wasm.Open(soon(), bomb, wasm.Config{Compile: true})
	require.ErrorIs(t, err, context.DeadlineExceeded)

	a, err := wasm.New(bomb, wasm.Config{Compile: true})
	require.NoError(t, err)
	ended := make(chan error)
	go func() { ended <- a.Load(context.Background()) }()
	require.ErrorIs(t, a.Load(soon()), context.DeadlineExceeded)
	_, err = wasm.Launcher{Waive: isc.FullIsolation}.Launch(soon(), spoke.Spec{App: a})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	_, err = a.Handle(soon(), rawCall)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NoError(t, a.Close())
	require.ErrorIs(t, <-ended, wasm.ErrClosed)
}

// TestAModuleEndsWithoutALoop holds that calls and instructions that take longer
// than anybody waits are ended, too.
func TestAModuleEndsWithoutALoop(t *testing.T) {
	tree := []module.Func{{}}
	for range 60 {
		below := module.Call(uint32(2 + len(tree)))
		tree = append(tree, body(below, below))
	}
	for name, f := range map[string][]module.Func{
		"calls":   tree,
		"filling": {body(module.Const(960), module.Grow(), module.Drop(), repeated(size, zero, zero, module.Const(60<<20), fill))},
	} {
		for _, compile := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " ", compile), func(t *testing.T) {
				if compile && name == "filling" {
					t.Skip("the compiler takes too long for it")
				}
				for i := range f {
					f[i].Name = fmt.Sprint("more", i)
				}
				m := raw(saysManifest, module.Call(uint32(2+len(f))), f...)
				a, err := openRaw(t, m, wasm.Config{Timeout: 300 * time.Millisecond, Compile: compile})
				require.NoError(t, err)
				began := time.Now()
				_, err = a.Handle(t.Context(), rawCall)
				require.ErrorIs(t, err, wasm.ErrTimeout)
				require.Less(t, time.Since(began), patience)
			})
		}
	}
}

// TestDepthIsNoMemory holds that a module that calls itself with as many values
// as it may have takes what the documentation says.
func TestDepthIsNoMemory(t *testing.T) {
	deep := body(module.Call(3))
	deep.Locals = module.MaxFrame - 8
	deep.Name = "deep"
	a, err := openRaw(t, raw(saysManifest, module.Call(3), deep), wasm.Config{})
	require.NoError(t, err)
	before := allocated()
	_, err = a.Handle(t.Context(), rawCall)
	died, ok := errors.AsType[*wasm.EndedError](err)
	require.True(t, ok, "%v", err)
	require.Contains(t, died.State, "stack overflow")
	require.Less(t, allocated()-before, uint64(300<<20)) // with all that was outgrown
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}
