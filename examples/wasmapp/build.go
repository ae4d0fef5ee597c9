package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

const here = "github.com/isolategpt/isolategpt/examples/wasmapp"

var errNoGo = errors.New("the Go tool is needed to build the app, and is not to be found")

// goBuild runs the Go tool on a package of the example.
func goBuild(ctx context.Context, environ []string, pkg string, args ...string) error {
	path, err := exec.LookPath("go")
	if err != nil {
		return errNoGo
	}
	args = append(append([]string{"build"}, args...), here+"/"+pkg)
	cmd := exec.CommandContext(ctx, path, args...) //nolint:gosec // only the place of its output varies
	cmd.Env = append(os.Environ(), environ...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building %s: %w: %s", pkg, err, out)
	}
	return nil
}

// buildModule makes the app's module in dir.
func buildModule(ctx context.Context, dir string) (path string, err error) {
	path = filepath.Join(dir, "app.wasm")
	return path, goBuild(ctx, []string{"GOOS=wasip1", "GOARCH=wasm"}, "app", "-buildmode=c-shared", "-o", path)
}

// buildBox makes the program that is the module's process, with the module in it.
func buildBox(ctx context.Context, dir, module string) (path string, err error) {
	stands, err := exec.CommandContext(ctx, "go", "list", "-f", "{{.Dir}}", here+"/box").Output()
	if err != nil {
		return "", fmt.Errorf("looking for box: %w", err)
	}
	place := filepath.Join(string(stands[:max(0, len(stands)-1)]), "app.wasm")
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {place: module}})
	if err != nil {
		return "", err
	}
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		return "", err
	}
	path = filepath.Join(dir, "box")
	return path, goBuild(ctx, []string{"CGO_ENABLED=0"}, "box", "-overlay", list, "-o", path)
}
