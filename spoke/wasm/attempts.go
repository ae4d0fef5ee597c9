package wasm

import (
	"context"
	"encoding/binary"
	"maps"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero/api"

	"github.com/isolategpt/isolategpt/isc"
)

// attempts are what the probing module tries for each guarantee. True means
// that it failed as it should.
var attempts = []struct {
	gives isc.Guarantees
	try   func(context.Context, *prober) (bool, error)
}{
	{isc.NoFiles | isc.NoSecrets, noFiles},
	{isc.NoNetwork, refused("sock_")},
	{isc.NoExec | isc.NoPeers, refused("proc_")},
	{isc.CleanEnv, cleanEnv},
	{isc.MemoryLimit, memoryLimit},
	{isc.MemoryIsolation, ownMemory},
	{isc.CrashIsolation, ownCrash},
	{isc.Killable, killable},
}

func systemNames() []string { return slices.Sorted(maps.Keys(system)) }

// Where the probing module keeps what its attempts point at.
const (
	pathAt  = 0
	sleepAt = 64
	outAt   = 1024
)

const probePath = "/etc/passwd"

// probeData holds a path, and a subscription to an hour on the monotonic clock.
func probeData() []byte {
	data := make([]byte, sleepAt+subscriptionSize)
	copy(data[pathAt:], probePath)
	binary.LittleEndian.PutUint32(data[sleepAt+16:], clockMonotonic)
	binary.LittleEndian.PutUint64(data[sleepAt+24:], 3_600_000_000_000)
	return data
}

// maxProbedFile is the highest descriptor that the probes try.
const maxProbedFile = 64

// refused calls all functions of a kind, on every descriptor. None may succeed.
func refused(prefix string) func(context.Context, *prober) (bool, error) {
	return func(ctx context.Context, b *prober) (bool, error) {
		return b.in(ctx, func(ctx context.Context, m api.Module) (bool, error) {
			for _, name := range systemNames() {
				if !strings.HasPrefix(name, prefix) {
					continue
				}
				if held, err := refusesAll(ctx, m, name); !held {
					return false, err
				}
			}
			return true, nil
		})
	}
}

func refusesAll(ctx context.Context, m api.Module, name string) (bool, error) {
	for fd := range uint64(maxProbedFile) {
		p := make([]uint64, len(system[name].params))
		if p[0] = fd; name == "path_open" {
			p[2], p[3], p[8] = pathAt, uint64(len(probePath)), outAt
		}
		got, err := errno(ctx, m, name, p...)
		if err != nil || got == done {
			return false, err
		}
	}
	return true, nil
}

// noFiles tries every function on paths and descriptors, but for writing to
// standard output and error.
func noFiles(ctx context.Context, b *prober) (bool, error) {
	held, err := refused("path_")(ctx, b)
	if !held {
		return false, err
	}
	return b.in(ctx, func(ctx context.Context, m api.Module) (bool, error) {
		for _, name := range systemNames() {
			if !strings.HasPrefix(name, "fd_") || name == "fd_write" {
				continue
			}
			if held, err := refusesAll(ctx, m, name); !held {
				return false, err
			}
		}
		got, err := errno(ctx, m, "fd_write", 3, sleepAt, 0, outAt)
		return got != done, err
	})
}

// cleanEnv asks for the numbers of variables and arguments.
func cleanEnv(ctx context.Context, b *prober) (bool, error) {
	return b.in(ctx, func(ctx context.Context, m api.Module) (bool, error) {
		for _, name := range []string{"environ_sizes_get", "args_sizes_get"} {
			m.Memory().WriteUint64Le(outAt, 1<<64-1) // so that what is read was written
			if got, err := errno(ctx, m, name, outAt, outAt+4); err != nil || got != done {
				return false, err
			}
			if v, _ := m.Memory().ReadUint64Le(outAt); v != 0 {
				return false, nil
			}
		}
		return true, nil
	})
}

// refusedGrowth is what growing gives that is refused.
const refusedGrowth = 1<<32 - 1

// memoryLimit grows to the limit, which must work, and beyond.
func memoryLimit(ctx context.Context, b *prober) (bool, error) {
	return b.in(ctx, func(ctx context.Context, m api.Module) (bool, error) {
		beyond, err := errno(ctx, m, "grow", uint64(b.pages))
		if err != nil || beyond != refusedGrowth {
			return false, err
		}
		rest, err := errno(ctx, m, "grow", 1)
		return err == nil && rest != refusedGrowth, err
	})
}

// ownMemory reads behind the end of the module's memory.
func ownMemory(ctx context.Context, b *prober) (bool, error) {
	for _, at := range []uint64{pageSize, pageSize - 3, 1<<31 - 1, 1<<32 - 4, 1<<32 - 1} {
		held, err := b.in(ctx, func(ctx context.Context, m api.Module) (bool, error) {
			_, err := errno(ctx, m, "load", at)
			return err != nil, nil
		})
		if !held || err != nil {
			return false, err
		}
	}
	return true, nil
}

// ownCrash traps, and looks whether the next instance works.
func ownCrash(ctx context.Context, b *prober) (bool, error) {
	trapped, err := b.in(ctx, func(ctx context.Context, m api.Module) (bool, error) {
		_, err := m.ExportedFunction("trap").Call(ctx)
		return err != nil, nil
	})
	if !trapped || err != nil {
		return false, err
	}
	return b.in(ctx, func(ctx context.Context, m api.Module) (bool, error) {
		got, err := errno(ctx, m, "load", 0)
		return got == binary.LittleEndian.Uint32([]byte(probePath)), err
	})
}

// killable loops, sleeps again and again, and calls, longer than it may.
func killable(ctx context.Context, b *prober) (bool, error) {
	for _, name := range []string{"loop", "slumber", "tree"} {
		held, err := b.in(ctx, func(ctx context.Context, m api.Module) (bool, error) {
			ctx, cancel := context.WithTimeout(ctx, probeTime)
			defer cancel()
			_, err := m.ExportedFunction(name).Call(ctx)
			return err != nil && ctx.Err() != nil, nil
		})
		if !held || err != nil {
			return false, err
		}
	}
	return true, nil
}
