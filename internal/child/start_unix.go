//go:build unix

package child

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"time"
)

// Start starts this program once more. What c.Files and c.Stdin name may be
// closed when it returns.
func Start(cfg Config) (*Child, error) {
	c := &Child{
		name: cfg.Name, grace: cmp.Or(max(cfg.Grace, 0), 2*time.Second),
		dying: make(chan struct{}), done: make(chan struct{}), stopped: make(chan struct{}),
	}
	if err := c.start(cfg); err != nil {
		return nil, fmt.Errorf("child: starting %s: %w", cfg.Name, err)
	}
	return c, nil
}

func (c *Child) start(cfg Config) error {
	if cfg.Namespaces {
		if err := Namespaces(); err != nil {
			return err
		}
	}
	path, err := executable()
	if err != nil {
		return err
	}
	stdin := cfg.Stdin
	if stdin == nil {
		if stdin, err = os.Open(os.DevNull); err != nil {
			return err
		}
		defer func() { _ = stdin.Close() }()
	}
	for i, f := range append([]*os.File{stdin}, cfg.Files...) {
		if f == nil || int(f.Fd()) < 0 {
			return fmt.Errorf("file %d: %w", i, os.ErrClosed)
		}
	}
	out, err := c.outputs(cfg)
	if err == nil {
		err = c.execute(path, cfg, append([]*os.File{stdin, out[0], out[1]}, cfg.Files...))
	}
	for _, f := range out {
		if f != nil {
			_ = f.Close()
		}
	}
	if err != nil {
		c.drain()
		return err
	}
	go c.attend()
	return nil
}

func (c *Child) execute(path string, cfg Config, files []*os.File) error {
	attr := &os.ProcAttr{
		Env:   append([]string{}, cfg.Env...), // nil would be this process's own
		Files: files,
		Sys:   attributes(cfg.Namespaces),
	}
	argv := append(slices.Clone(os.Args[:1]), cfg.Args...)
	var err error
	theForker.hold()
	theForker.do(func() {
		if err = inheritNothing(); err == nil {
			c.process, err = os.StartProcess(path, argv, attr) //nolint:gosec // this program, and what our own packages ask for
		}
	})
	if err != nil {
		theForker.release()
	}
	return err
}

// attend sees the child to its end.
func (c *Child) attend() {
	c.await()
	theForker.release()
	c.drain()
	close(c.done)
}

// record keeps how the child ended. The caller holds c.mu.
func (c *Child) record(state *os.ProcessState, err error) {
	c.reaped = true
	switch {
	case err != nil:
		c.state = err.Error()
	case isClosed(c.stopped):
		c.state = "stopped, then " + state.String()
	default:
		c.state = state.String()
	}
}
