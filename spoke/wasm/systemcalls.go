package wasm

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"time"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"
)

func noSizes(_ context.Context, m api.Module, p []uint64) uint32 {
	if !m.Memory().WriteUint32Le(uint32(p[0]), 0) || !m.Memory().WriteUint32Le(uint32(p[1]), 0) {
		return errnoFault
	}
	return done
}

// The clocks of the system. Those of processor time do not exist.
const (
	clockReal      = 0
	clockMonotonic = 1
)

func clockRes(_ context.Context, m api.Module, p []uint64) uint32 {
	if uint32(p[0]) > clockMonotonic {
		return errnoInvalid
	}
	return stored(m, p[1], 1000)
}

func clockTime(ctx context.Context, m api.Module, p []uint64) uint32 {
	switch uint32(p[0]) {
	case clockReal:
		return stored(m, p[2], uint64(time.Now().UnixNano()))
	case clockMonotonic:
		// Zero is not a time that every program can bear.
		return stored(m, p[2], 1+uint64(time.Since(runOf(ctx).born)))
	}
	return errnoInvalid
}

func stored(m api.Module, at, v uint64) uint32 {
	if !m.Memory().WriteUint64Le(uint32(at), v) {
		return errnoFault
	}
	return done
}

func random(_ context.Context, m api.Module, p []uint64) uint32 {
	buf, ok := m.Memory().Read(uint32(p[0]), uint32(p[1]))
	if !ok {
		return errnoFault
	}
	_, _ = rand.Read(buf) // it never fails
	return done
}

// maxVectors bounds the pieces of one write.
const maxVectors = 1024

// write takes what goes to standard output and error.
func write(ctx context.Context, m api.Module, p []uint64) uint32 {
	fd, at, n := uint32(p[0]), uint32(p[1]), uint32(p[2])
	if fd != 1 && fd != 2 {
		return errnoBadFile
	}
	if n > maxVectors {
		return errnoInvalid
	}
	vectors, ok := m.Memory().Read(at, 8*n)
	if !ok {
		return errnoFault
	}
	var written uint32
	for ; len(vectors) > 0; vectors = vectors[8:] {
		piece, ok := m.Memory().Read(binary.LittleEndian.Uint32(vectors), binary.LittleEndian.Uint32(vectors[4:]))
		if !ok {
			return errnoFault
		}
		runOf(ctx).output.write(piece)
		written += uint32(len(piece))
	}
	if !m.Memory().WriteUint32Le(uint32(p[3]), written) {
		return errnoFault
	}
	return done
}

// exit ends the guest.
func exit(ctx context.Context, m api.Module, p []uint64) {
	code := uint32(p[0])
	_ = m.CloseWithExitCode(ctx, code)
	panic(sys.NewExitError(code))
}
