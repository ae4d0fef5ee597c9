package module

// Get puts the local of that index, a parameter or one of the function's own,
// on the stack.
func Get(i uint32) []byte { return append([]byte{0x20}, Uint(i)...) }

// Const puts a number on the stack.
func Const(v int32) []byte {
	out := []byte{0x41}
	for {
		b := byte(v & 0x7f)
		v >>= 7
		if v == 0 && b&0x40 == 0 || v == -1 && b&0x40 != 0 {
			return append(out, b)
		}
		out = append(out, b|0x80)
	}
}

// Call calls the function of that index.
func Call(i uint32) []byte { return append([]byte{0x10}, Uint(i)...) }

// Drop takes a number off the stack.
func Drop() []byte { return []byte{0x1a} }

// Grow asks for as many pages as the number on the stack says, and leaves the
// size before, or -1.
func Grow() []byte { return []byte{0x40, 0x00} }

// Load puts the number on the stack that lies at the address on the stack.
func Load() []byte { return []byte{0x28, 0x02, 0x00} }

// Trap is unreachable.
func Trap() []byte { return []byte{0x00} }

// Forever repeats body, which leaves nothing, without end.
func Forever(body ...byte) []byte {
	return append(append([]byte{0x03, 0x40}, body...), 0x0c, 0x00, 0x0b)
}
