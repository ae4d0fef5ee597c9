//go:build linux && (amd64 || arm64)

package sandbox

import (
	"fmt"
	"os"
	"slices"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// dataLimit is what a foreign program's data is bounded by, in bytes. This program
// holds some itself, so that the bound is put on it in the last moment.
var dataLimit atomic.Int64

func exec(p Program) error {
	if n := dataLimit.Load(); n != 0 {
		if err := bound(unix.RLIMIT_DATA, n); err != nil {
			return fmt.Errorf("sandbox: limit of data: %w", err)
		}
	}
	err := unix.Exec(p.Path, append([]string{p.Path}, p.Args...), slices.Concat([]string{}, p.Env))
	return &os.PathError{Op: "sandbox: execute", Path: p.Path, Err: err}
}
