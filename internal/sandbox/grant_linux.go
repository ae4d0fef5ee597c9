//go:build linux && (amd64 || arm64)

package sandbox

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// grant is a path and what may be done with what is there.
type grant struct {
	path   string
	rights uint64
}

// grants are a program's paths, shorter ones first, so that what lies beneath
// another is put on top of it. A path through symbolic links is granted under its
// real name, too.
func (p *Program) grants() ([]grant, error) {
	if p == nil {
		return nil, nil
	}
	all := []grant{{p.Path, runRights}}
	for _, path := range p.Run {
		all = append(all, grant{path, runRights})
	}
	for _, path := range p.Read {
		all = append(all, grant{path, readRights})
	}
	for _, path := range p.Write {
		all = append(all, grant{path, writeRights})
	}
	if !p.Static {
		all = append(all, grant{"/dev/null", readRights | unix.LANDLOCK_ACCESS_FS_WRITE_FILE},
			grant{"/dev/urandom", readRights})
	}
	for _, g := range all[:len(all):len(all)] {
		real, err := filepath.EvalSymlinks(g.path)
		if err != nil {
			return nil, fmt.Errorf("sandbox: declared path: %w", err)
		}
		if real == "/" {
			return nil, fmt.Errorf("%w: %s is the root", errProfile, g.path)
		}
		if real != g.path {
			all = append(all, grant{real, g.rights})
		}
	}
	return merge(all), nil
}

func merge(all []grant) []grant {
	slices.SortStableFunc(all, func(a, b grant) int { return strings.Compare(a.path, b.path) })
	var out []grant
	for _, g := range all {
		if n := len(out); n > 0 && out[n-1].path == g.path {
			out[n-1].rights |= g.rights
			continue
		}
		out = append(out, g)
	}
	return out
}
