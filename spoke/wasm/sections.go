package wasm

import (
	"encoding/binary"
	"errors"
)

// maxTable bounds the module's table of functions, in entries of 8 bytes. The
// runtime allocates what a module asks for, up to 1 GiB, beside its memory.
const maxTable = 1 << 17

var (
	errSections = errors.New("wasm: module: malformed sections")
	errTable    = errors.New("wasm: module: its table of functions is too large")
	errStart    = errors.New("wasm: module: it has a function that starts by itself; export it as _initialize")
)

// The sections of a module that are looked at.
const (
	tableSection = 4
	startSection = 8
)

// checkSections refuses a module whose table is out of bounds, and one with code
// that would run before it can be stopped. What it cannot read it refuses too.
func checkSections(module []byte) error {
	if len(module) < 8 || string(module[:8]) != "\x00asm\x01\x00\x00\x00" {
		return errSections
	}
	r := reader{module[8:]}
	for len(r.rest) > 0 {
		id := r.rest[0]
		r.rest = r.rest[1:]
		size, ok := r.number()
		if !ok || uint64(size) > uint64(len(r.rest)) {
			return errSections
		}
		body := reader{r.rest[:size]}
		r.rest = r.rest[size:]
		switch id {
		case startSection:
			return errStart
		case tableSection:
			if err := body.table(); err != nil {
				return err
			}
		}
	}
	return nil
}

// reader takes a module's bytes apart.
type reader struct{ rest []byte }

// table reads a section that must hold one table of functions, without a limit
// or with one, and nothing else.
func (r *reader) table() error {
	count, ok := r.number()
	if !ok || count != 1 || len(r.rest) < 2 || r.rest[0] != 0x70 || r.rest[1] > 1 {
		return errSections
	}
	r.rest = r.rest[2:]
	least, ok := r.number()
	if !ok {
		return errSections
	}
	if least > maxTable {
		return errTable
	}
	return nil
}

// number reads an unsigned number of 32 bits.
func (r *reader) number() (uint32, bool) {
	v, n := binary.Uvarint(r.rest[:min(len(r.rest), 5)])
	if n <= 0 || v > 1<<32-1 {
		return 0, false
	}
	r.rest = r.rest[n:]
	return uint32(v), true
}
