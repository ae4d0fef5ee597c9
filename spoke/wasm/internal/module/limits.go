package module

import (
	"errors"
	"fmt"
)

// What a module may have. A runtime allocates and works for each of these far
// more than the bytes that ask for it, some of them before it looks whether the
// bytes are there.
const (
	maxTypes    = 1 << 14
	maxParams   = 64 // of one type
	maxResults  = 16 // of one type
	maxImports  = 1 << 10
	maxFuncs    = 1 << 17
	maxGlobals  = 1 << 14
	maxExports  = 1 << 14
	maxSegments = 1 << 12 // of the table
	maxTable    = 1 << 17 // entries, and what all segments hold
	maxData     = 1 << 20 // segments of the memory
	maxBody     = 1 << 20 // bytes of one function
	maxLocals   = 1 << 20 // of all functions
	// MaxFrame is how many values of 8 bytes one call of a function may hold at
	// once: parameters, locals and operands.
	MaxFrame = 2048
)

// ErrMalformed says that a module is none, or uses what is not offered.
var ErrMalformed = errors.New("malformed")

// ErrLimit says that a module has more of something than any app needs.
var ErrLimit = errors.New("over a limit")

// ErrStart says that a module has a function that starts by itself.
var ErrStart = errors.New("it has a function that starts by itself; export it as _initialize")

func malformed(what string) error { return fmt.Errorf("%w: %s", ErrMalformed, what) }

func over(what string, limit int) error {
	return fmt.Errorf("%w: more than %d %s", ErrLimit, limit, what)
}
