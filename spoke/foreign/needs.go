package foreign

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// shared are files that interpreters want, none of them a secret: without
// openssl.cnf, for one, node ends if it sees that there is one.
var shared = []string{"/etc/ld.so.cache", "/etc/localtime", "/etc/ssl/openssl.cnf", "/etc/pki/tls/openssl.cnf"}

// Needs gives the files without which a program does not run, absolute, by the
// names under which they are looked for: run those that the kernel executes (the
// program and its dynamic linker), read the libraries that it is linked with,
// directly or through others, and a few files of the system's that interpreters
// want. Of a script they are its interpreter's, and the script itself. A library
// need only be read.
//
// Of a directory they are what the native extensions in it (.so, .node, however
// deep) are linked with, and the directory: Needs("/usr/lib/python3.11").
//
// Libraries that a program loads by name while it runs are not found; nor is
// what is not an ELF file. Libraries are looked for where the dynamic linker
// does without variables: RPATH and RUNPATH, the directories of /etc/ld.so.conf,
// the standard ones. One that is not found is left out.
//
// [Start] calls it for Config.Path. It is for Linux; elsewhere what it gives
// means nothing.
func Needs(path string) (run, read []string, err error) {
	l := linked{dirs: libraryDirs(), seen: map[string]bool{}}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		dir, err := resolve(path)
		if err != nil {
			return nil, nil, err
		}
		err = l.addDir(dir)
		return nil, tidy(append(l.read, dir)), err
	}
	e, err := find(path)
	if err != nil {
		return nil, nil, err
	}
	return l.needsOf(e)
}

func (l *linked) needsOf(e executable) (run, read []string, err error) {
	loader, err := l.addFile(e.path)
	if err != nil {
		return nil, nil, err
	}
	run = []string{e.path}
	if loader != "" {
		if _, err := os.Stat(loader); err != nil {
			return nil, nil, fmt.Errorf("foreign: the dynamic linker of %q: %w", e.path, err)
		}
		run = append(run, loader)
		l.add("libgcc_s.so.1", l.dirs, elfKind{}) // the C library loads it by name
	}
	return tidy(run), tidy(slices.Concat(l.read, e.scripts, existing(shared))), nil
}

// addDir adds what the native extensions in dir are linked with. A file that is
// no ELF file is none.
func (l *linked) addDir(dir string) error {
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		native := strings.HasSuffix(name, ".node") || strings.HasSuffix(name, ".so") || strings.Contains(d.Name(), ".so.")
		if !native || !d.Type().IsRegular() {
			return nil
		}
		_, err = l.addFile(name)
		if _, unreadable := errors.AsType[*fs.PathError](err); unreadable {
			return err
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("foreign: looking for native extensions: %w", err)
	}
	return nil
}

// existing are those of names that there are.
func existing(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		_, err := os.Stat(name)
		return err != nil
	})
}
