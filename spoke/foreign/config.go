package foreign

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke/egress"
)

// Config says which program is started and what it may have. What it does not
// name, the program does not get.
type Config struct {
	// Path is the program: an absolute path, or a name that is looked up in this
	// process's PATH. Symbolic links are followed before anything is confined. Of
	// a script the interpreter that its first line names is executed, found in
	// the same way, with the script as its argument.
	Path string
	// Args are its arguments, without its name.
	Args []string
	// Env is its whole environment, "NAME=value" each. Nothing is inherited.
	Env []string
	// Dir is its working directory, inside one of Run, Read and Write. Default /.
	Dir string

	// Run are files and directories that it may read and execute, Read those that
	// it may read, Write those that it may read and change. They must exist;
	// symbolic links are followed before anything is confined. What the program
	// itself needs ([Needs]) is added. Refused are /, the home directory and what
	// holds them, /proc, /sys, all of /dev but its harmless files, and a Write
	// that holds or is in a Run, or that holds a Read.
	Run, Read, Write []string

	// Memory bounds its memory, in bytes: an allocation beyond it fails, and what
	// goes around that is killed ([ErrMemory]), as is a program whose first thread
	// ends before the others, since nobody could see then what it holds. It is
	// looked at every 2 to 20 ms, so that such a program has more for a moment: what
	// it fills in 2 ms, and as much longer as this program does not get to look.
	// What the system buffers in its pipes and sockets is bounded by its 256
	// descriptors alone. Above 512 threads it is killed, too ([ErrThreads]).
	// Default 512 MiB, at least 64 MiB.
	Memory int64

	// Hosts are the remote hosts that it may reach, by exact name in lower-case
	// ASCII, through an HTTP proxy on its loopback that its environment names
	// (HTTP_PROXY and the like). None: it has no network sockets.
	Hosts []string
	// Authorize is asked for each connection to one of Hosts; its error refuses.
	// It is called by several goroutines at once. Nil refuses all.
	Authorize func(ctx context.Context, host string) error
	// Proxy bounds the proxy's connections and names its ports and exceptions. Its
	// Authorize is not used.
	Proxy egress.ProxyConfig

	// App is whose program it is, for errors and the log. Default: the program's
	// file name.
	App isc.AppID
	// Waive names what the program may lack of [isc.FullIsolation], which is
	// demanded by itself. Require adds to that and cannot be waived. If one is not
	// shown to hold, nothing runs. Prefer, with [isc.DefenceInDepth], is what it should
	// have: without it, the program runs, its isolation says so, and so does one
	// warning in the log.
	Waive, Require, Prefer isc.Guarantees

	// StartTimeout bounds the start, until the program is executed. Default 10
	// seconds.
	StartTimeout time.Duration
	// Grace is waited at each rung of the ladder of [Program.Close]. Default 2
	// seconds.
	Grace time.Duration
	// Logger hears of the start and the end (Info) and of what is preferred and
	// not had (Warn). Nil: nobody does.
	Logger *slog.Logger

	// tasks keeps the proxy's connections, for an [App]: they end with a call, and
	// Authorize hears "http://" before a host without TLS. Nil: of no App.
	tasks *connections

	status string // where its memory is seen, in tests of that; "": its own
}

// kind is the name of this isolation.
const kind = "program"

// MinMemory is the least of Config.Memory, in bytes: interpreters hang below it.
const MinMemory = 64 << 20

var errConfig = errors.New("foreign: bad configuration")

// orDefault is a copy of c that shares nothing with it, with its defaults.
func (c Config) orDefault() Config {
	for _, s := range []*[]string{&c.Args, &c.Env, &c.Run, &c.Read, &c.Write, &c.Hosts} {
		*s = slices.Clone(*s)
	}
	c.Dir = cmp.Or(c.Dir, "/")
	c.Memory = cmp.Or(c.Memory, 512<<20)
	c.StartTimeout = cmp.Or(max(c.StartTimeout, 0), 10*time.Second)
	c.Grace = cmp.Or(max(c.Grace, 0), 2*time.Second)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// check refuses what can be refused without looking at the system.
func (c Config) check() error {
	if c.Path == "" {
		return fmt.Errorf("%w: no program", errConfig)
	}
	if c.Memory < MinMemory {
		return fmt.Errorf("%w: memory of %d bytes, the least is %d", errConfig, c.Memory, MinMemory)
	}
	for _, s := range slices.Concat([]string{c.Path, c.Dir}, c.Args, c.Env, c.Run, c.Read, c.Write) {
		if strings.ContainsRune(s, 0) {
			return fmt.Errorf("%w: a zero byte in %q", errConfig, s)
		}
	}
	for _, e := range c.Env {
		if name, _, ok := strings.Cut(e, "="); !ok || name == "" {
			return fmt.Errorf("%w: variable %q is not of the form NAME=value", errConfig, e)
		}
	}
	for _, h := range c.Hosts {
		if h == "" || strings.ToLower(h) != h || strings.ContainsAny(h, ":/@* ") {
			return fmt.Errorf("%w: host %q is not a name in lower-case ASCII alone", errConfig, h)
		}
	}
	return nil
}

// needs is what must be shown to hold.
func (c Config) needs() isc.Guarantees { return isc.FullIsolation.Without(c.Waive) | c.Require }
