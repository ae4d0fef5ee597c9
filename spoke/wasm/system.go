package wasm

import (
	"context"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/isolategpt/isolategpt/spoke/wasm/internal/module"
)

// wasi is the name of the system's functions.
const wasi = "wasi_snapshot_preview1"

// What the system's functions give.
const (
	done         = uint32(0)
	errnoBadFile = uint32(8)
	errnoFault   = uint32(21)
	errnoInvalid = uint32(28)
	errnoNone    = uint32(52)
)

// call is one function of the system. What it panics with ends the guest.
type call func(ctx context.Context, m api.Module, p []uint64) uint32

// system are all functions that a guest may name: their parameters ("i" for 32
// bits, "l" for 64), and what they do. Those that do nothing look at no
// argument: there are no files, no sockets and no processes that one could name.
//
// Source: WASI preview 1.
var system = map[string]struct {
	params string
	do     call
}{
	"args_get":          {"ii", nothing},
	"args_sizes_get":    {"ii", noSizes},
	"environ_get":       {"ii", nothing},
	"environ_sizes_get": {"ii", noSizes},
	"clock_res_get":     {"ii", clockRes},
	"clock_time_get":    {"ili", clockTime},
	"random_get":        {"ii", random},
	"poll_oneoff":       {"iiii", poll},
	"sched_yield":       {"", nothing},
	"fd_write":          {"iiii", write},

	"fd_advise":               {"illi", noFile},
	"fd_allocate":             {"ill", noFile},
	"fd_close":                {"i", noFile},
	"fd_datasync":             {"i", noFile},
	"fd_fdstat_get":           {"ii", noFile},
	"fd_fdstat_set_flags":     {"ii", noFile},
	"fd_fdstat_set_rights":    {"ill", noFile},
	"fd_filestat_get":         {"ii", noFile},
	"fd_filestat_set_size":    {"il", noFile},
	"fd_filestat_set_times":   {"illi", noFile},
	"fd_pread":                {"iiili", noFile},
	"fd_prestat_dir_name":     {"iii", noFile},
	"fd_prestat_get":          {"ii", noFile},
	"fd_pwrite":               {"iiili", noFile},
	"fd_read":                 {"iiii", noFile},
	"fd_readdir":              {"iiili", noFile},
	"fd_renumber":             {"ii", noFile},
	"fd_seek":                 {"ilii", noFile},
	"fd_sync":                 {"i", noFile},
	"fd_tell":                 {"ii", noFile},
	"path_create_directory":   {"iii", noFile},
	"path_filestat_get":       {"iiiii", noFile},
	"path_filestat_set_times": {"iiiilli", noFile},
	"path_link":               {"iiiiiii", noFile},
	"path_open":               {"iiiiillii", noFile},
	"path_readlink":           {"iiiiii", noFile},
	"path_remove_directory":   {"iii", noFile},
	"path_rename":             {"iiiiii", noFile},
	"path_symlink":            {"iiiii", noFile},
	"path_unlink_file":        {"iii", noFile},
	"sock_accept":             {"iii", noFile},
	"sock_recv":               {"iiiiii", noFile},
	"sock_send":               {"iiiii", noFile},
	"sock_shutdown":           {"ii", noFile},
	"proc_raise":              {"i", none},
}

// procExit is the one function of the system without a result.
const procExit = "proc_exit"

func nothing(context.Context, api.Module, []uint64) uint32 { return done }
func noFile(context.Context, api.Module, []uint64) uint32  { return errnoBadFile }
func none(context.Context, api.Module, []uint64) uint32    { return errnoNone }

func valueTypes(params string) []byte {
	var types []byte
	for _, p := range params {
		if p == 'l' {
			types = append(types, module.I64)
		} else {
			types = append(types, module.I32)
		}
	}
	return types
}

// offerSystem makes the functions, and no others, importable.
func offerSystem(ctx context.Context, r wazero.Runtime) error {
	b := r.NewHostModuleBuilder(wasi)
	for name, f := range system {
		do := f.do
		run := func(ctx context.Context, m api.Module, stack []uint64) { stack[0] = uint64(do(ctx, m, stack)) }
		b.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(run), valueTypes(f.params), []byte{module.I32}).Export(name)
	}
	b.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(exit), []byte{module.I32}, nil).Export(procExit)
	_, err := b.Instantiate(ctx)
	return err
}
