package foreign

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// devices are the files in /dev that may be declared: they hold nothing and lead
// nowhere.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}

// paths are what a program may have, absolute and clean.
type paths struct{ run, read, write []string }

// declared checks what the caller declares, and gives it without symbolic links.
func declared(run, read, write []string) (paths, error) {
	var p paths
	for _, kind := range []struct {
		in  []string
		out *[]string
	}{{run, &p.run}, {read, &p.read}, {write, &p.write}} {
		for _, name := range kind.in {
			resolved, err := resolve(name)
			if err != nil {
				return paths{}, err
			}
			*kind.out = append(*kind.out, resolved)
		}
	}
	return p, p.disjoint()
}

// resolve follows symbolic links and refuses what nobody should declare.
func resolve(name string) (string, error) {
	if !filepath.IsAbs(name) {
		return "", fmt.Errorf("%w: path %q is not absolute", errConfig, name)
	}
	resolved, err := filepath.EvalSymlinks(name)
	if err != nil {
		return "", fmt.Errorf("%w: path %q: %w", errConfig, name, err)
	}
	info, err := os.Stat(resolved)
	if err != nil {
		return "", fmt.Errorf("%w: path %q: %w", errConfig, name, err)
	}
	switch {
	case slices.Contains(devices, resolved):
		return resolved, nil
	case within(resolved, "/proc"), within(resolved, "/sys"), within(resolved, "/dev"):
		return "", fmt.Errorf("%w: path %q leads to the system's own %s", errConfig, name, resolved)
	case holdsHome(resolved):
		return "", fmt.Errorf("%w: path %q holds everything, or the home directory: name what is needed inside of it", errConfig, name)
	case !info.IsDir() && !info.Mode().IsRegular():
		return "", fmt.Errorf("%w: path %q is %s, neither a file nor a directory", errConfig, name, kindOf(info.Mode()))
	}
	return resolved, nil
}

func holdsHome(dir string) bool {
	if filepath.Dir(dir) == dir {
		return true
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return false // this user has none
	}
	if resolved, err := filepath.EvalSymlinks(home); err == nil {
		home = resolved
	}
	return within(home, dir)
}

func kindOf(m fs.FileMode) string {
	switch {
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeNamedPipe != 0:
		return "a named pipe"
	default:
		return "a device"
	}
}

// within says whether name is dir or below it. Both are clean.
func within(name, dir string) bool {
	return name == dir || strings.HasPrefix(name, strings.TrimSuffix(dir, "/")+"/")
}

// disjoint holds that nothing is both executed and changed, and that nothing is
// changed that was declared to be read.
func (p paths) disjoint() error {
	for _, w := range p.write {
		for _, r := range p.run {
			if within(r, w) || within(w, r) {
				return fmt.Errorf("%w: %q may be executed and %q changed: one is in the other", errConfig, r, w)
			}
		}
		for _, r := range p.read {
			if within(r, w) {
				return fmt.Errorf("%w: %q is only to be read, but is in %q, which may be changed", errConfig, r, w)
			}
		}
	}
	return nil
}

// with adds names for what is declared already. They are looked for under them.
func (p paths) with(run, read, write []string) paths {
	merge := func(a, b []string) []string {
		all := slices.Clone(a)
		for _, name := range b {
			all = append(all, filepath.Clean(name))
		}
		return tidy(all)
	}
	return paths{run: merge(p.run, run), read: merge(p.read, read), write: merge(p.write, write)}
}

// workingDir resolves dir, which must be / or in what is declared.
func (p paths) workingDir(dir string) (string, error) {
	if dir == "/" {
		return dir, nil
	}
	resolved, err := resolve(dir)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(resolved)
	if err != nil {
		return "", fmt.Errorf("%w: working directory %q: %w", errConfig, dir, err)
	}
	inside := func(d string) bool { return within(resolved, d) }
	if !info.IsDir() || !slices.ContainsFunc(slices.Concat(p.run, p.read, p.write), inside) {
		return "", fmt.Errorf("%w: working directory %q is not a directory inside of Run, Read or Write", errConfig, dir)
	}
	return resolved, nil
}

func tidy(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}
