package sandbox_test

import (
	"fmt"
	"os"

	"github.com/isolategpt/isolategpt/internal/sandbox"
	"github.com/isolategpt/isolategpt/isc"
)

// A process that was started to be confined, with its connections on descriptors
// 3 and 4.
func ExampleConfine() {
	isolation, err := sandbox.Confine(sandbox.Profile{Memory: 256 << 20, Files: 64, Hub: os.Getppid(), Channels: 2})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if missing := isc.FullIsolation.Without(isolation.Has); missing != 0 {
		fmt.Fprintln(os.Stderr, "not confined:", missing)
		os.Exit(1)
	}
}

// A process that becomes another program, which may read one directory.
func ExampleExec() {
	program := sandbox.Program{Path: "/usr/bin/true", Run: []string{"/usr/lib"}, Read: []string{"/etc/ld.so.cache"}}
	profile := sandbox.Profile{Memory: 64 << 20, Files: 64, Hub: os.Getppid(), Program: &program}
	if _, err := sandbox.Confine(profile); err == nil {
		err = sandbox.Exec(program) // does not return
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(1)
}
