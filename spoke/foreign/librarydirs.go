package foreign

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// libraryDirs are where the dynamic linker looks for what has no path.
func libraryDirs() []string {
	var out []string
	for _, dir := range slices.Concat(
		confDirs("/etc/ld.so.conf", 0),
		[]string{"/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib"}, // and of musl
	) {
		if dir = filepath.Clean(dir); !slices.Contains(out, dir) {
			out = append(out, dir)
		}
	}
	return out
}

// confDirs reads one file of the dynamic linker's configuration.
func confDirs(name string, depth int) []string {
	b, err := os.ReadFile(name)
	if err != nil || depth > 4 {
		return nil
	}
	var out []string
	for line := range strings.Lines(string(b)) {
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		switch {
		case len(fields) == 2 && fields[0] == "include":
			pattern := fields[1]
			if !filepath.IsAbs(pattern) {
				pattern = filepath.Join(filepath.Dir(name), pattern)
			}
			included, _ := filepath.Glob(pattern) // only a bad pattern is an error
			for _, file := range included {
				out = append(out, confDirs(file, depth+1)...)
			}
		case len(fields) == 1 && filepath.IsAbs(fields[0]):
			out = append(out, fields[0])
		}
	}
	return out
}
