package module

import (
	"encoding/binary"
	"slices"
)

// The sections of a module.
const (
	customSection    = 0
	typeSection      = 1
	importSection    = 2
	functionSection  = 3
	tableSection     = 4
	memorySection    = 5
	globalSection    = 6
	exportSection    = 7
	startSection     = 8
	elementSection   = 9
	codeSection      = 10
	dataSection      = 11
	dataCountSection = 12
)

// signature is a type of functions.
type signature struct{ params, results int }

// preparing is a module while it is looked at.
type preparing struct {
	seen   [dataCountSection + 1]bool
	types  []signature
	funcs  []uint32 // the types of all functions, imported ones first
	bodies int      // how many functions are not imported
	locals int      // of all functions so far
	elems  int      // of all segments of the table so far
	limit  int      // bytes of code
	code   []byte   // the new code of all functions
}

// Prepare checks a module that anybody may have written against limits that
// bound what it costs a runtime to decode, check and interpret, at most limit
// bytes of code among them, and gives the module as it is to be run: without custom sections, and with points at which a
// runtime that looks at loops can end it: a loop at the start of each function,
// and a call before each instruction that changes memory in bulk.
//
// It does not check types; the runtime does. Vectors, references, threads,
// exceptions and tail calls are not known. Its work is linear. The error is
// [ErrMalformed], [ErrLimit] or [ErrStart].
func Prepare(code []byte, limit int) ([]byte, error) {
	if len(code) < len(header) || !slices.Equal(code[:len(header)], header) {
		return nil, malformed("no module of version 1")
	}
	p := &preparing{limit: limit}
	var sections []section
	r := reader{rest: code[len(header):]}
	for len(r.rest) > 0 {
		id := r.byte()
		body := r.vector()
		if r.bad {
			return nil, malformed("a section is cut off")
		}
		if id == customSection {
			continue
		}
		if err := p.section(id, body); err != nil {
			return nil, err
		}
		sections = append(sections, section{id, body})
	}
	return p.assemble(sections)
}

// section is a part of a module.
type section struct {
	id   byte
	body []byte
}

// assemble puts the module together again, with one more function for
// checkpoints, which comes last and so moves no other.
func (p *preparing) assemble(sections []section) ([]byte, error) {
	out := slices.Clone(header)
	nothing := slices.Index(p.types, signature{})
	if nothing < 0 {
		return nil, malformed("no function without parameters and results")
	}
	more := Uint(uint32(p.bodies + 1))
	for _, s := range sections {
		switch s.id {
		case functionSection:
			_, old := binary.Uvarint(s.body)
			s.body = slices.Concat(more, s.body[old:], Uint(uint32(nothing)))
		case codeSection:
			last := slices.Concat([]byte{0}, checkpoint, []byte{opEnd})
			s.body = slices.Concat(more, p.code, Uint(uint32(len(last))), last)
		}
		out = append(append(out, s.id), Uint(uint32(len(s.body)))...)
		out = append(out, s.body...)
	}
	return out, nil
}

func (p *preparing) section(id byte, body []byte) error {
	if id == startSection {
		return ErrStart
	}
	if int(id) >= len(p.seen) || p.seen[id] {
		return malformed("an unknown section, or one twice")
	}
	p.seen[id] = true
	read := map[byte]func(*reader) error{
		typeSection: p.readTypes, importSection: p.readImports, functionSection: p.readFuncs, tableSection: p.readTable,
		globalSection: p.readGlobals, exportSection: p.readExports, elementSection: p.readElements,
		codeSection: p.readCode, dataSection: p.readData,
	}[id]
	if read == nil { // one memory, and a number: nothing that could be much
		return nil
	}
	r := &reader{rest: body}
	if err := read(r); err != nil {
		return err
	}
	if r.bad || len(r.rest) > 0 {
		return malformed("a section does not hold what it says")
	}
	return nil
}
