package module

import "encoding/binary"

// reader takes a module's bytes apart. After the first thing that is not there
// it gives nothing but zeros, and bad is set.
type reader struct {
	rest []byte
	bad  bool
}

func (r *reader) fail() { r.rest, r.bad = nil, true }

func (r *reader) byte() byte {
	b := r.bytes(1)
	if b == nil {
		return 0
	}
	return b[0]
}

// bytes gives the next n, a part of the module; nil if there are fewer.
func (r *reader) bytes(n int) []byte {
	if n < 0 || n > len(r.rest) {
		r.fail()
		return nil
	}
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b
}

// number reads an unsigned number of 32 bits.
func (r *reader) number() uint32 {
	v, n := binary.Uvarint(r.rest[:min(len(r.rest), 5)])
	if n <= 0 || v > 1<<32-1 {
		r.fail()
		return 0
	}
	r.rest = r.rest[n:]
	return uint32(v)
}

// signed reads a signed number of so many bits, at most 64.
func (r *reader) signed(bits int) int64 {
	var v int64
	for shift := 0; shift < bits; shift += 7 {
		b := r.byte()
		v |= int64(b&0x7f) << shift
		if b&0x80 == 0 {
			if shift += 7; shift < 64 && b&0x40 != 0 {
				v |= -1 << shift
			}
			return v
		}
	}
	r.fail()
	return 0
}

// vector reads bytes with their number before them.
func (r *reader) vector() []byte {
	n := r.number()
	if uint64(n) > uint64(len(r.rest)) {
		r.fail()
		return nil
	}
	return r.bytes(int(n))
}

// count reads how many elements follow, of at least one byte each.
func (r *reader) count() int {
	n := r.number()
	if uint64(n) > uint64(len(r.rest)) {
		r.fail()
		return 0
	}
	return int(n)
}
