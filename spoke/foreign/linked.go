package foreign

import (
	"bufio"
	"debug/elf"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
)

// linked gathers libraries.
type linked struct {
	dirs []string
	seen map[string]bool // resolved paths
	read []string
}

// elfKind keeps libraries of another architecture out. The zero value is any.
type elfKind struct {
	class   elf.Class
	machine elf.Machine
}

// addFile adds the libraries of one ELF file, and theirs, and gives the file's
// dynamic linker, "" if it needs none.
func (l *linked) addFile(path string) (loader string, err error) {
	f, err := elf.Open(path)
	if err != nil {
		return "", fmt.Errorf("foreign: %q is no program that the kernel executes: %w", path, err)
	}
	defer func() { _ = f.Close() }()
	dirs := slices.Concat(runPaths(f, filepath.Dir(path)), l.dirs)
	for _, name := range dynStrings(f, elf.DT_NEEDED) {
		l.add(name, dirs, elfKind{f.Class, f.Machine})
	}
	return interp(f), nil
}

// add finds one library in the first of dirs that has it, with its variants for
// particular processors, and under its names in the other dirs.
func (l *linked) add(name string, dirs []string, kind elfKind) {
	if filepath.IsAbs(name) {
		dirs, name = []string{filepath.Dir(name)}, filepath.Base(name)
	}
	var found string
	for _, dir := range dirs {
		variants, _ := filepath.Glob(filepath.Join(dir, "glibc-hwcaps", "*", name)) // only a bad pattern is an error
		for _, path := range append(variants, filepath.Join(dir, name)) {
			resolved, err := filepath.EvalSymlinks(path)
			if err != nil || found != "" && found != resolved {
				continue
			}
			if !l.take(resolved, kind) {
				continue
			}
			l.read = append(l.read, path)
			if filepath.Dir(path) == dir {
				found = resolved
			}
		}
	}
}

// take says whether a file is a library of that kind, and adds what it is linked
// with itself.
func (l *linked) take(path string, kind elfKind) bool {
	if l.seen[path] {
		return true
	}
	f, err := elf.Open(path)
	if err != nil {
		return false
	}
	_ = f.Close()
	if kind != (elfKind{}) && kind != (elfKind{f.Class, f.Machine}) {
		return false
	}
	l.seen[path] = true
	_, err = l.addFile(path)
	return err == nil
}

// dynStrings are the values of a tag in the file's dynamic section. A static file
// has none. [elf.File.DynString] would read megabytes of names of symbols.
func dynStrings(f *elf.File, tag elf.DynTag) []string {
	section := f.SectionByType(elf.SHT_DYNAMIC)
	offsets, err := f.DynValue(tag)
	if err != nil || section == nil || int(section.Link) >= len(f.Sections) {
		return nil
	}
	var out []string
	for _, offset := range offsets {
		r := io.NewSectionReader(f.Sections[section.Link], int64(offset), maxName)
		if s, err := bufio.NewReader(r).ReadString(0); err == nil {
			out = append(out, strings.TrimSuffix(s, "\x00"))
		}
	}
	return out
}

// maxName bounds a name in a file, in bytes.
const maxName = 4096

// interp is the file's dynamic linker.
func interp(f *elf.File) string {
	for _, p := range f.Progs {
		if p.Type != elf.PT_INTERP || p.Filesz > maxName {
			continue
		}
		b, err := io.ReadAll(p.Open())
		if err == nil {
			return strings.TrimRight(string(b), "\x00")
		}
	}
	return ""
}

// runPaths are the directories that the file itself names.
func runPaths(f *elf.File, origin string) []string {
	var out []string
	for _, tag := range []elf.DynTag{elf.DT_RPATH, elf.DT_RUNPATH} {
		for _, list := range dynStrings(f, tag) {
			for dir := range strings.SplitSeq(list, ":") {
				dir = strings.NewReplacer("${ORIGIN}", origin, "$ORIGIN", origin).Replace(dir)
				if filepath.IsAbs(dir) {
					out = append(out, filepath.Clean(dir))
				}
			}
		}
	}
	return out
}
