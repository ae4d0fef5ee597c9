package module_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/spoke/wasm/internal/module"
)

const enough = 1 << 20

var (
	one    = []byte{module.I32}
	header = []byte("\x00asm\x01\x00\x00\x00")
	huge   = module.Uint(1<<32 - 1)
	// empty is what every app has: a function without parameters and results.
	empty = module.Func{Name: "empty"}
)

// part is a section.
func part(id byte, body ...[]byte) []byte {
	all := slices.Concat(body...)
	return slices.Concat([]byte{id}, module.Uint(uint32(len(all))), all)
}

// coded is a module of one function with this code, locals included.
func coded(body ...[]byte) []byte {
	all := slices.Concat(body...)
	return slices.Concat(header, part(1, []byte{1, 0x60, 0, 0}), part(3, []byte{1, 0}), part(10, []byte{1}, module.Uint(uint32(len(all))), all))
}

// TestWhatIsSaidIsThere holds that no count makes a runtime allocate what a
// module does not have, nor far more than it has.
func TestWhatIsSaidIsThere(t *testing.T) {
	for name, m := range map[string][]byte{
		"types":                part(1, huge),
		"imports":              part(2, huge),
		"functions":            part(3, huge),
		"tables":               part(4, huge),
		"globals":              part(6, huge),
		"exports":              part(7, huge),
		"segments":             part(9, huge),
		"code":                 part(10, huge),
		"data":                 part(11, huge),
		"a section":            append([]byte{1}, huge...),
		"parameters":           part(1, []byte{1, 0x60}, huge),
		"results":              part(1, []byte{1, 0x60, 0}, huge),
		"a name":               part(2, []byte{1}, huge),
		"entries of a segment": part(9, []byte{1, 0, 0x41, 0, 0x0b}, huge),
		"bytes of data":        part(11, []byte{1, 1}, huge),
		"a number of 33 bits":  part(3, []byte{0xff, 0xff, 0xff, 0xff, 0x1f}),
		"a number of 6 bytes":  part(3, []byte{0x80, 0x80, 0x80, 0x80, 0x80, 0}),
		"more in a section":    part(3, []byte{0, 0}),
		"a function's code":    coded([]byte{0, 0x0e}, huge),
	} {
		code := m
		if !bytes.HasPrefix(m, header) {
			code = append(slices.Clone(header), m...)
		}
		_, err := module.Prepare(code, enough)
		require.ErrorIs(t, err, module.ErrMalformed, name)
	}
}

func TestLimits(t *testing.T) {
	many := func(n int, of ...byte) []byte { return append(module.Uint(uint32(n)), bytes.Repeat(of, n)...) }
	for name, m := range map[string][]byte{
		"types":            append(slices.Clone(header), part(1, many(1<<14+1, 0x60, 0, 0))...),
		"parameters":       append(slices.Clone(header), part(1, []byte{1, 0x60}, many(65, module.I32), []byte{0})...),
		"results":          append(slices.Clone(header), part(1, []byte{1, 0x60, 0}, many(17, module.I32))...),
		"imports":          append(slices.Clone(header), part(2, many(1<<10+1, 0, 0, 0, 0))...),
		"functions":        append(slices.Clone(header), part(3, many(1<<17+1, 0))...),
		"a table":          module.Module{Table: 1<<17 + 1, Funcs: []module.Func{empty}}.Encode(),
		"globals":          append(slices.Clone(header), part(6, many(1<<14+1, module.I32, 0, 0x41, 0, 0x0b))...),
		"exports":          append(slices.Clone(header), part(7, many(1<<14+1, 0, 0, 0))...),
		"segments":         append(slices.Clone(header), part(9, many(1<<12+1, 1, 0, 0))...),
		"entries":          append(slices.Clone(header), part(9, []byte{2, 1, 0}, many(1<<16+1, 0), []byte{1, 0}, many(1<<16, 0))...),
		"data":             append(slices.Clone(header), part(11, many(1<<20+1, 1, 0))...),
		"locals":           coded([]byte{1}, huge, one, []byte{0x0b}),
		"locals in parts":  coded(many(3, 0x80, 0x08, module.I32), []byte{0x0b}),
		"values":           coded([]byte{0}, bytes.Repeat(module.Const(0), module.MaxFrame+1), []byte{0x0b}),
		"code":             coded([]byte{0}, bytes.Repeat([]byte{1}, enough), []byte{0x0b}),
		"code in function": coded([]byte{0}, bytes.Repeat([]byte{1}, 1<<20+1), []byte{0x0b}),
	} {
		limit := enough
		if name == "code in function" {
			limit *= 2
		}
		_, err := module.Prepare(m, limit)
		require.ErrorIs(t, err, module.ErrLimit, name)
	}
}

func TestWhatIsNotKnownIsRefused(t *testing.T) {
	for name, m := range map[string][]byte{
		"nothing":              nil,
		"another version":      []byte("\x00asm\x02\x00\x00\x00"),
		"a section twice":      slices.Concat(header, part(3, []byte{0}), part(3, []byte{0})),
		"tags":                 append(slices.Clone(header), part(13, []byte{0})...),
		"a vector":             append(slices.Clone(header), part(1, []byte{1, 0x60, 1, 0x7b, 0})...),
		"a local reference":    coded([]byte{1, 1, 0x64}, []byte{0x0b}),
		"an imported memory":   append(slices.Clone(header), part(2, []byte{1, 0, 0, 2, 0, 1})...),
		"a table that is told": append(slices.Clone(header), part(4, []byte{1, 0x40, 0, 0x70, 0, 1})...),
		"a tail call":          coded([]byte{0, 0x12, 0, 0x0b}),
		"an atomic":            coded([]byte{0, 0xfe, 0, 0x0b}),
		"a vector instruction": coded([]byte{0, 0xfd, 0, 0x0b}),
		"a table's growth":     coded([]byte{0, 0xfc, 15, 0, 0x0b}),
		"an end too many":      coded([]byte{0, 0x0b, 0x0b}),
		"no end":               coded([]byte{0, 0x01}),
		"operands":             coded([]byte{0, 0x6a, 0x0b}),
		"operands below":       coded([]byte{0, 0x41, 0, 0x02, 0x40, 0x1a, 0x0b, 0x0b}),
		"a call to nowhere":    coded([]byte{0, 0x10, 1, 0x0b}),
		"a block to nowhere":   coded([]byte{0, 0x02, 1, 0x0b, 0x0b}),
	} {
		_, err := module.Prepare(m, enough)
		require.ErrorIs(t, err, module.ErrMalformed, name)
	}
	_, err := module.Prepare(module.Module{Start: 1, Funcs: []module.Func{empty, empty}}.Encode(), enough)
	require.ErrorIs(t, err, module.ErrStart)
}

func TestCustomSectionsAreLeftOut(t *testing.T) {
	plain := module.Module{Pages: 1, Funcs: []module.Func{empty}}.Encode()
	want, err := module.Prepare(plain, enough)
	require.NoError(t, err)
	got, err := module.Prepare(append(plain, part(0, []byte("\x04name"), []byte{1, 0xff, 0xff, 0xff, 0xff, 0x0f})...), enough)
	require.NoError(t, err)
	require.Equal(t, want, got)
}

// FuzzPrepare holds that what is accepted is accepted again, and that no input
// makes it panic or give something with an error.
func FuzzPrepare(f *testing.F) {
	f.Add(module.Module{Pages: 1, Data: []byte{1}, Table: 1, Funcs: []module.Func{{From: "a", Name: "b", Params: one}, empty}}.Encode())
	f.Add(coded([]byte{1, 2, 0x7e}, []byte{0x02, 0x40, 0x41, 0, 0x0d, 0, 0x0b, 0x0b}))
	f.Add(coded([]byte{0, 0x41, 0, 0x41, 0, 0x41, 0, 0xfc, 0x0b, 0, 0x0b}))
	f.Fuzz(func(t *testing.T, code []byte) {
		out, err := module.Prepare(code, enough)
		if err != nil {
			require.Nil(t, out)
			return
		}
		require.Less(t, len(out), 4*len(code)+64)
		_, err = module.Prepare(out, 8*enough)
		require.NoError(t, err)
	})
}
