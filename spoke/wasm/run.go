package wasm

import (
	"context"
	"errors"
	"time"

	"github.com/tetratelabs/wazero/api"

	"github.com/isolategpt/isolategpt/spoke/wasm/internal/frame"
)

// run is what the host knows while one function of an instance runs. It reaches
// the host's functions through the context, the one thing that the runtime
// hands on. Only the goroutine that runs the instance uses it.
type run struct {
	born   time.Time
	output *output
	// say takes a frame of the guest and gives the reply; nil where nothing is to
	// be said.
	say func(ctx context.Context, raw []byte) (reply []byte, err error)
	// pending is a reply that the guest has not collected yet.
	pending []byte
}

type runKey struct{}

func runOf(ctx context.Context) *run {
	r, _ := ctx.Value(runKey{}).(*run)
	return r
}

// The ways in which a guest's call of the host is none. Each ends the guest.
var (
	errPointer = errors.New("wasm: exchange: out of the module's memory")
	errSize    = errors.New("wasm: exchange: too large")
	errSilence = errors.New("wasm: exchange: nothing may be said now")
)

// exchange is the host's one function, as package frame describes it.
func exchange(ctx context.Context, m api.Module, stack []uint64) {
	in, inLen, out, outCap := uint32(stack[0]), uint32(stack[1]), uint32(stack[2]), uint32(stack[3])
	r := runOf(ctx)
	if inLen > 0 {
		r.pending = r.take(ctx, m, in, inLen)
	}
	stack[0] = uint64(len(r.pending))
	if uint64(len(r.pending)) > uint64(outCap) {
		return
	}
	if len(r.pending) > 0 && !m.Memory().Write(out, r.pending) {
		panic(errPointer)
	}
	r.pending = nil
}

// take reads a frame and gives the reply to it.
func (r *run) take(ctx context.Context, m api.Module, in, inLen uint32) []byte {
	if r.say == nil {
		panic(errSilence)
	}
	if inLen > frame.MaxUp {
		panic(errSize)
	}
	view, ok := m.Memory().Read(in, inLen)
	if !ok {
		panic(errPointer)
	}
	// The view is the guest's memory; what is looked at must not change.
	reply, err := r.say(ctx, append([]byte(nil), view...))
	if err != nil {
		panic(err)
	}
	return reply
}
