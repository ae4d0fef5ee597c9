package sandbox

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Profile says what a process confines itself to. It travels as JSON in the
// first frame to the process.
type Profile struct {
	// Memory is how many bytes the process may hold beyond what it holds when it
	// is confined. Of a [Program] that is not static: the bytes of its data, see
	// [DataLimit]. In a program with cgo the stacks of 32
	// threads come on top, and their arenas unless it was started with
	// MALLOC_ARENA_MAX=1.
	Memory int64 `json:"memory"`
	// Files bounds its open descriptors.
	Files int `json:"files"`
	// Namespaces: it was started in new user, mount, pid, net, ipc and uts
	// namespaces.
	Namespaces bool `json:"namespaces,omitempty"`
	// Hub is the parent's pid, as the parent sees it. Attempts are made on it.
	Hub int `json:"hub"`
	// Channels says that the descriptors from 3 to 3+Channels-1 are its
	// connections.
	Channels int `json:"channels"`
	// Program is executed afterwards. Nil: this program stays and serves.
	Program *Program `json:"program,omitempty"`
}

// DataLimit is the layer of a [Program] that is not static, in place of
// isc.MemoryLimit, which [Confine] never claims of one: it is applied if memory
// beyond the limit was refused, as it comes and shared. That bounds mistakes and
// no attacker, since data that is made unwritable is not counted. The parent has
// the guarantee if this is applied and it has shown that it sees, and ends, a
// process that does so.
const DataLimit = "data-limit"

// Attempts is the layer that is applied if every attempt to break out was refused;
// else its detail says which were not.
const Attempts = "attempts"

// Program is a separate program that a confined process becomes. It executes
// nothing further, itself neither: only the execution by [Exec] passes.
type Program struct {
	Path string   `json:"path"` // absolute
	Args []string `json:"args,omitempty"`
	Env  []string `json:"env,omitempty"`
	Dir  string   `json:"dir,omitempty"`
	// Static: it needs no file but itself, as a static Go spoke does. It gets the
	// same allow-list as this program would.
	Static bool `json:"static,omitempty"`
	// Run are files and directories that may be read, and that the system may
	// execute on the way to the program: the loader that it names. (Libraries take
	// reading alone.) A program that is to execute another one, as a shell's script
	// does, cannot: name that one as the Path.
	//
	// Read are those that may be read, Write directories that may be read and
	// changed. With a Write, files may be locked and watched, which others can tell
	// who may read the same files; without one, neither.
	Run   []string `json:"run,omitempty"`
	Read  []string `json:"read,omitempty"`
	Write []string `json:"write,omitempty"`
	// Proxy is the one loopback TCP port that it may connect to. 0: it has no
	// network sockets at all.
	Proxy int `json:"proxy,omitempty"`
}

// maxMemory keeps sums of limits in range.
const maxMemory = 1 << 46

var errProfile = errors.New("sandbox: bad profile")

// check refuses what nobody can have meant, before anything is given up.
func (p Profile) check() error {
	switch {
	case p.Memory <= 0 || p.Memory > maxMemory:
		return fmt.Errorf("%w: memory of %d bytes", errProfile, p.Memory)
	case p.Files <= 0:
		return fmt.Errorf("%w: %d files", errProfile, p.Files)
	case p.Channels < 0 || p.Channels > p.Files:
		return fmt.Errorf("%w: %d channels of %d files", errProfile, p.Channels, p.Files)
	case p.Hub <= 0:
		return fmt.Errorf("%w: hub %d is no process", errProfile, p.Hub)
	case p.Program != nil:
		return p.Program.check()
	}
	return nil
}

func (p Program) check() error {
	paths := slices.Concat([]string{p.Path}, p.Run, p.Read, p.Write)
	if p.Dir != "" {
		paths = append(paths, p.Dir)
	}
	for _, name := range paths {
		// Of Linux, whatever system this is.
		if !path.IsAbs(name) || path.Clean(name) != name || strings.Contains(name, "\x00") {
			return fmt.Errorf("%w: %q is not an absolute, clean path", errProfile, name)
		}
		if name == "/" && name != p.Dir {
			return fmt.Errorf("%w: the root itself cannot be declared", errProfile)
		}
	}
	switch {
	case p.Proxy < 0 || p.Proxy > 65535:
		return fmt.Errorf("%w: proxy port %d", errProfile, p.Proxy)
	case p.Static && (len(p.Run)+len(p.Read)+len(p.Write) > 0 || p.Proxy != 0):
		return fmt.Errorf("%w: a static program has no other path and no proxy", errProfile)
	}
	return nil
}
