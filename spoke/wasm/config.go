package wasm

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/isolategpt/isolategpt/isc"
)

// Config says what a module gets. Zero fields mean the defaults.
type Config struct {
	// Memory is the most that an instance may hold, in bytes: default 64 MiB, at
	// least 8 MiB, at most 4 GiB, rounded down to pages of 64 KiB. Its stack, at
	// most 100 MB, and its table of functions, at most 1 MiB, come on top.
	Memory int64
	// Code is the most code that the module may have, in bytes: default 8 MiB, at
	// most 32 MiB. Interpreted it takes up to 60 times as much memory, once for
	// all instances. Of the rest of a module, and of its functions one by one,
	// there are limits that no compiler comes near.
	Code int64
	// Timeout is how long the module may work on one call, and on its start.
	// The time in which it waits for the hub does not count. Default 30 seconds.
	Timeout time.Duration
	// Manifest is the app's. Nil: the module is asked for it. Otherwise nothing
	// of the module is run before the first launch, which fails if the module
	// declares another.
	Manifest *isc.Manifest
	// Pin is the digest that the manifest must have; zero for any.
	Pin isc.Digest
	// Compile has the module compiled before it is run, which makes it about ten
	// times faster, and lets its calls go deeper than 2,000. A module can make the compiler take minutes and gigabytes,
	// which nothing bounds: in this program it is for modules whose origin is
	// trusted, and [Launcher] claims no [isc.CrashIsolation] and no
	// [isc.MemoryLimit] for them. [App.Single] compiles in any case.
	Compile bool
	// Interpreter has [App.Single] interpret the module, too. Systems for which
	// there is no compiler do so in any case.
	Interpreter bool
	// Cache is a directory for compiled code, "" for none. Whoever can write to
	// it can run code in this program, outside of every isolation.
	Cache string
}

const (
	pageSize  = 64 << 10
	minMemory = 8 << 20
	maxMemory = 4 << 30
	maxModule = 32 << 20 // bytes
)

func (c Config) orDefault() Config {
	c.Memory = cmp.Or(c.Memory, 64<<20)
	c.Code = cmp.Or(c.Code, 8<<20)
	c.Timeout = cmp.Or(c.Timeout, 30*time.Second)
	return c
}

func (c Config) checked(module []byte) (Config, error) {
	c = c.orDefault()
	switch {
	case c.Memory < minMemory || c.Memory > maxMemory:
		return c, fmt.Errorf("wasm: memory: %d bytes: must be from %d to %d", c.Memory, int64(minMemory), int64(maxMemory))
	case c.Code < 0 || c.Code > maxModule:
		return c, fmt.Errorf("wasm: code: %d bytes: must be from 1 to %d", c.Code, maxModule)
	case c.Compile && c.Interpreter:
		return c, errors.New("wasm: both the compiler and the interpreter are asked for")
	case c.Timeout < 0:
		return c, errors.New("wasm: timeout: must not be negative")
	case len(module) == 0 || len(module) > maxModule:
		return c, fmt.Errorf("wasm: module: %d bytes: must be from 1 to %d", len(module), maxModule)
	}
	if c.Manifest != nil {
		own := c.Manifest.Clone()
		c.Manifest = &own
		return c, c.accepts(own)
	}
	return c, nil
}

// ErrManifest says that a module declares another manifest than it must.
var ErrManifest = errors.New("wasm: the module is not the app that is asked for")

// accepts says whether m is a manifest, and the one that is asked for.
func (c Config) accepts(m isc.Manifest) error {
	if err := m.Validate(); err != nil {
		return fmt.Errorf("wasm: %w", err)
	}
	digest := m.Digest()
	if !c.Pin.IsZero() && digest != c.Pin {
		return fmt.Errorf("%w: its manifest has the digest %s, and the pin is %s", ErrManifest, digest, c.Pin)
	}
	if c.Manifest != nil && digest != c.Manifest.Digest() {
		return fmt.Errorf("%w: its own manifest has the digest %s, and the one that was given has %s", ErrManifest, digest, c.Manifest.Digest())
	}
	return nil
}

func (c Config) pages() uint32 { return uint32(c.Memory / pageSize) }
