// Package module prepares WebAssembly modules that anybody may have written for
// a runtime, and writes small ones, for the probes of package wasm and for its
// tests.
//
// # Source
//
// WebAssembly Core Specification 1.0, section 5 (binary format).
package module

import "encoding/binary"

// The value types that are used here.
const (
	I32 = byte(0x7f)
	I64 = byte(0x7e)
)

// Func is a function: one that is imported, if From is set, or one that is
// exported by its name.
type Func struct {
	From    string
	Name    string
	Params  []byte
	Results []byte
	// Locals is the number of i32 that it has beside its parameters.
	Locals int
	// Body is its code without the last end.
	Body []byte
}

// Module is what Encode writes. The imported functions must come first; their
// place in Funcs is their index.
type Module struct {
	Funcs []Func
	Pages uint32 // of its memory at the start, which is exported as "memory"
	Data  []byte // at address 0
	// Table is the size of a table of functions; none if it is 0.
	Table uint32
	// Start is the index of a function that starts by itself; none if it is 0.
	Start uint32
}

var header = []byte{0, 'a', 's', 'm', 1, 0, 0, 0}

// Encode gives the binary form.
func (m Module) Encode() []byte {
	var types, imports, funcs, exports, code list
	for i, f := range m.Funcs {
		types.add(0x60)
		types.bytes(f.Params)
		types.bytes(f.Results)
		if f.From != "" {
			imports.name(f.From)
			imports.name(f.Name)
			imports.raw(0x00)
			imports.add(Uint(uint32(i))...)
			continue
		}
		funcs.add(Uint(uint32(i))...)
		exports.name(f.Name)
		exports.raw(0x00)
		exports.add(Uint(uint32(i))...)
		code.body(f)
	}
	exports.name("memory")
	exports.add(0x02, 0x00)
	out := append([]byte{}, header...)
	out = appendSection(out, 1, types)
	out = appendSection(out, 2, imports)
	out = appendSection(out, 3, funcs)
	if m.Table > 0 {
		out = appendSection(out, 4, list{n: 1, buf: append([]byte{0x70, 0x00}, Uint(m.Table)...)})
	}
	out = appendSection(out, 5, list{n: 1, buf: append([]byte{0x00}, Uint(m.Pages)...)})
	out = appendSection(out, 7, exports)
	if m.Start > 0 {
		start := Uint(m.Start)
		out = append(append(out, 8, byte(len(start))), start...)
	}
	out = appendSection(out, 10, code)
	if len(m.Data) > 0 {
		data := list{n: 1, buf: []byte{0x00, 0x41, 0x00, 0x0b}}
		data.bytes(m.Data)
		out = appendSection(out, 11, data)
	}
	return out
}

// list is a vector of the format: how many, and their bytes.
type list struct {
	n   uint32
	buf []byte
}

func (l *list) raw(b ...byte) { l.buf = append(l.buf, b...) }

// add ends an element.
func (l *list) add(b ...byte) {
	l.raw(b...)
	l.n++
}

func (l *list) bytes(b []byte) { l.raw(append(Uint(uint32(len(b))), b...)...) }

func (l *list) name(s string) { l.bytes([]byte(s)) }

func (l *list) body(f Func) {
	var b list
	if f.Locals > 0 {
		b.raw(append(append([]byte{1}, Uint(uint32(f.Locals))...), I32)...)
	} else {
		b.raw(0)
	}
	b.raw(f.Body...)
	b.raw(0x0b)
	l.bytes(b.buf)
	l.n++
}

func appendSection(out []byte, id byte, l list) []byte {
	if l.n == 0 {
		return out
	}
	count := Uint(l.n)
	out = append(append(out, id), Uint(uint32(len(count)+len(l.buf)))...)
	return append(append(out, count...), l.buf...)
}

// Uint is v as an unsigned number of the format.
func Uint(v uint32) []byte { return binary.AppendUvarint(nil, uint64(v)) }
