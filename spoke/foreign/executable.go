package foreign

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// executable is a program as it is executed: an ELF file, and what stands before
// the caller's arguments.
type executable struct {
	path    string
	args    []string
	scripts []string // are read
}

// maxScripts bounds scripts whose interpreter is a script, as the kernel does.
const maxScripts = 4

// find resolves name to a file that the kernel itself can execute.
func find(name string) (executable, error) {
	path, err := lookUp(name)
	if err != nil {
		return executable{}, err
	}
	e := executable{path: path}
	for range maxScripts {
		words, err := shebang(e.path)
		if err != nil || words == nil {
			return e, err
		}
		interpreter, args, err := interpreterOf(words)
		if err != nil {
			return executable{}, fmt.Errorf("%w: script %q: %w", errConfig, e.path, err)
		}
		e.scripts = append(e.scripts, e.path)
		e.args = append(append(args, e.path), e.args...)
		e.path = interpreter
	}
	return executable{}, fmt.Errorf("%w: script %q: too many interpreters that are scripts", errConfig, path)
}

// lookUp gives the file behind a name, through PATH and symbolic links.
func lookUp(name string) (string, error) {
	if strings.ContainsRune(name, filepath.Separator) && !filepath.IsAbs(name) {
		return "", fmt.Errorf("%w: program %q is neither absolute nor a bare name", errConfig, name)
	}
	found, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%w: program %q: %w", errConfig, name, err)
	}
	if !filepath.IsAbs(found) {
		return "", fmt.Errorf("%w: program %q: PATH leads to the relative %q", errConfig, name, found)
	}
	return resolve(found)
}

var errShebang = errors.New("its first line names no interpreter")

// shebang gives the words of a script's first line, nil of another file: the
// interpreter and at most one argument, which holds all that follows.
func shebang(path string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%w: program %q: %w", errConfig, path, err)
	}
	defer func() { _ = f.Close() }()
	var head [256]byte // what the kernel looks at
	n, err := io.ReadFull(f, head[:])
	if err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
		return nil, fmt.Errorf("%w: program %q: %w", errConfig, path, err)
	}
	line, ok := bytes.CutPrefix(head[:n], []byte("#!"))
	if !ok {
		return nil, nil
	}
	line, _, _ = bytes.Cut(line, []byte("\n"))
	first, rest, _ := strings.Cut(strings.TrimSpace(strings.ReplaceAll(string(line), "\t", " ")), " ")
	if first == "" || strings.ContainsRune(first, 0) {
		return nil, fmt.Errorf("%w: script %q: %w", errConfig, path, errShebang)
	}
	if rest = strings.TrimSpace(rest); rest == "" {
		return []string{first}, nil
	}
	return []string{first, rest}, nil
}

// interpreterOf resolves "/usr/bin/env NAME" by itself, so that the program need
// not be let execute env.
func interpreterOf(words []string) (path string, args []string, err error) {
	if filepath.Base(words[0]) != "env" {
		path, err = lookUp(words[0])
		return path, words[1:], err
	}
	if len(words) == 1 {
		return "", nil, errShebang
	}
	fields := strings.Fields(strings.TrimPrefix(words[1], "-S "))
	if len(fields) == 0 || strings.HasPrefix(fields[0], "-") || strings.Contains(fields[0], "=") {
		return "", nil, fmt.Errorf("%w: env with options is not supported, name the interpreter in Path", errShebang)
	}
	path, err = lookUp(fields[0])
	return path, fields[1:], err
}
