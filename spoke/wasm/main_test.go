package wasm_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke/spoketest"
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
	overlay, err := lean()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("go", "build", "-overlay", overlay, "-buildmode=c-shared", "-ldflags=-s -w", "-o", path, "./testdata/guest")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	return os.ReadFile(path)
})

// lean is an overlay that leaves of package spoketest what a module needs: its
// apps. What runs them would take the most of the guest's start.
func lean() (string, error) {
	files, err := filepath.Glob("../spoketest/*.go")
	if err != nil {
		return "", err
	}
	host := filepath.Join(scratch, "host.go")
	text := fmt.Sprintf("package spoketest\n\nconst Host = %q\n", spoketest.Host)
	if err := os.WriteFile(host, []byte(text), 0o600); err != nil {
		return "", err
	}
	replace := map[string]string{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return "", err
		}
		full, err := filepath.Abs(f)
		if err != nil {
			return "", err
		}
		switch {
		case bytes.Contains(text, []byte("const Host ")):
			replace[full] = host
		case bytes.Contains(text, []byte(`"testing"`)):
			replace[full] = ""
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(scratch, "overlay.json")
	return path, os.WriteFile(path, list, 0o600)
}

// skipUnderRace skips what would take the guest minutes. The modules of
// raw_test.go go the same ways through the host.
func skipUnderRace(tb testing.TB) {
	tb.Helper()
	if underRace {
		tb.Skip("a Go program under the race detector takes too long")
	}
}

// shared is an app for all tests that need nothing special of it, once for each
// engine. Compiled, its instances start ten times faster.
func shared(c wasm.Config) func() (*wasm.App, error) {
	return sync.OnceValues(func() (*wasm.App, error) {
		module, err := guestModule()
		if err != nil {
			return nil, err
		}
		return wasm.New(module, c)
	})
}

var (
	compiled    = shared(wasm.Config{Compile: true})
	interpreted = shared(wasm.Config{})
)

// launcher launches modules of both engines.
var launcher = wasm.Launcher{Waive: isc.CrashIsolation | isc.MemoryLimit}

func app(tb testing.TB) *wasm.App { return loaded(tb, compiled) }

func loaded(tb testing.TB, shared func() (*wasm.App, error)) *wasm.App {
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
