package foreign

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/isolategpt/isolategpt/internal/child"
	inside "github.com/isolategpt/isolategpt/internal/foreign"
	"github.com/isolategpt/isolategpt/internal/sandbox"
	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
)

// maxFiles bounds the descriptors that a program may hold open.
const maxFiles = 256

func start(ctx context.Context, cfg Config) (*Program, error) {
	if !inside.Called() {
		return nil, errNoMain
	}
	profile, err := cfg.profile()
	if err != nil {
		return nil, err
	}
	if err := child.Namespaces(); err == nil {
		profile.Namespaces = true
	} else if len(cfg.Hosts) > 0 {
		return nil, noProxy(cfg, err)
	}
	p := &Program{cfg: cfg, ending: make(chan struct{}), done: make(chan struct{})}
	conn, err := p.execute(profile.Namespaces)
	if err != nil {
		return nil, fmt.Errorf("foreign: starting %q: %w", cfg.App, err)
	}
	err = p.handshake(ctx, conn, profile)
	_ = conn.Close()
	p.owned.Go(p.watch)
	if err != nil {
		p.child.Kill() // nothing in it is worth a ladder
		return nil, errors.Join(err, p.Close())
	}
	if lacks := p.isolation.Lacks.Without(p.cfg.Waive); lacks != 0 {
		cfg.Logger.Warn("program runs without what is preferred", "app", string(cfg.App), "lacks", lacks.String())
	}
	cfg.Logger.Info("program started", "app", string(cfg.App), "isolation", p.isolation.String())
	return p, nil
}

// noProxy: with hosts and without a network namespace there is no network that
// the program may have.
func noProxy(cfg Config, cause error) error {
	return &spoke.UnmetError{App: cfg.App, Missing: isc.NoNetwork, Isolation: isc.Isolation{
		Name:   kind,
		Layers: []isc.Layer{{Name: "namespaces", Detail: cause.Error()}},
	}.Preferring(cfg.Prefer)}
}

// profile is what the process confines itself to. Channels and Hub are set, and
// Namespaces is not.
func (c Config) profile() (sandbox.Profile, error) {
	e, err := find(c.Path)
	if err != nil {
		return sandbox.Profile{}, err
	}
	l := linked{dirs: libraryDirs(), seen: map[string]bool{}}
	run, read, err := l.needsOf(e)
	if err != nil {
		return sandbox.Profile{}, err
	}
	program := &sandbox.Program{Path: e.path, Args: append(e.args, c.Args...), Env: c.Env}
	if len(c.Hosts) > 0 {
		program.Proxy = proxyPort
		program.Env = append(program.Env, proxyEnv()...)
		read = append(read, existing(roots)...)
	}
	p, err := declared(slices.Concat(run, c.Run), slices.Concat(read, c.Read), c.Write)
	if err != nil {
		return sandbox.Profile{}, err
	}
	if program.Dir, err = p.workingDir(c.Dir); err != nil {
		return sandbox.Profile{}, err
	}
	p = p.with(slices.Concat(run, c.Run), slices.Concat(read, c.Read), c.Write)
	program.Run, program.Read, program.Write = p.run, p.read, p.write
	return sandbox.Profile{Memory: c.Memory, Files: maxFiles, Hub: os.Getpid(), Channels: 1, Program: program}, nil
}

// execute starts this program once more. The connection is to its inside.
func (p *Program) execute(namespaces bool) (*net.UnixConn, error) {
	var pipes pipes
	defer pipes.closeTheirs()
	err := pipes.open()
	if err == nil {
		p.child, err = child.Start(child.Config{
			Name:       string(p.cfg.App),
			Env:        []string{inside.Variable + "=" + inside.Value},
			Files:      []*os.File{pipes.channelEnd, pipes.stdoutEnd},
			Stdin:      pipes.stdinEnd,
			Namespaces: namespaces,
			Grace:      p.cfg.Grace,
		})
	}
	if err != nil {
		pipes.closeOurs()
		return nil, err
	}
	p.stdin, p.stdout = pipes.stdin, pipes.stdout
	return pipes.channel, nil
}

// pipes are a program's connections, this side's ends and the other's.
type pipes struct {
	stdin, stdinEnd   *os.File
	stdout, stdoutEnd *os.File
	channel           *net.UnixConn
	channelEnd        *os.File
}

func (c *pipes) open() error {
	var err error
	if c.stdinEnd, c.stdin, err = os.Pipe(); err != nil {
		return err
	}
	if c.stdout, c.stdoutEnd, err = os.Pipe(); err != nil {
		return err
	}
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socketpair", err)
	}
	ours := os.NewFile(uintptr(fds[0]), "channel")
	defer func() { _ = ours.Close() }() // FileConn copies
	c.channelEnd = os.NewFile(uintptr(fds[1]), "channel")
	conn, err := net.FileConn(ours)
	if err != nil {
		return err
	}
	c.channel = conn.(*net.UnixConn)
	return nil
}

func (c *pipes) closeOurs() {
	_, _ = c.stdin.Close(), c.stdout.Close() // a nil file gives an error
	if c.channel != nil {
		_ = c.channel.Close()
	}
}

func (c *pipes) closeTheirs() {
	_, _, _ = c.stdinEnd.Close(), c.stdoutEnd.Close(), c.channelEnd.Close()
}
