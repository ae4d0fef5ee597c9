package wasm_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/isolategpt/isolategpt/spoke/wasm"
)

// scratch holds the guest's module, and code that was compiled from it.
var scratch string

func TestMain(m *testing.M) {
	var err error
	if scratch, err = os.MkdirTemp("", "wasm"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = os.RemoveAll(scratch)
		os.Exit(code)
	}))
}

// guestModule is the module of testdata, built at its first use.
var guestModule = sync.OnceValues(func() ([]byte, error) {
	path := filepath.Join(scratch, "guest.wasm")
	cmd := exec.Command("go", "build", "-buildmode=c-shared", "-ldflags=-s -w", "-o", path, "./testdata/guest")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	return os.ReadFile(path)
})

// skipUnderRace skips what would compile the guest for minutes. The modules of
// raw_test.go go the same ways through the host.
func skipUnderRace(tb testing.TB) {
	tb.Helper()
	if underRace {
		tb.Skip("compiling a Go program under the race detector takes too long")
	}
}

// shared is an app for all tests that need nothing special of it.
var shared = sync.OnceValues(func() (*wasm.App, error) {
	module, err := guestModule()
	if err != nil {
		return nil, err
	}
	return wasm.New(module, wasm.Config{Cache: filepath.Join(scratch, "cache")})
})

func app(tb testing.TB) *wasm.App {
	tb.Helper()
	skipUnderRace(tb)
	a, err := shared()
	require.NoError(tb, err)
	require.NoError(tb, a.Load(tb.Context()))
	return a
}

func guest(tb testing.TB) []byte {
	tb.Helper()
	skipUnderRace(tb)
	module, err := guestModule()
	require.NoError(tb, err)
	return module
}
