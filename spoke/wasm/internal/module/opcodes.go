package module

// The instructions with a shape of their own.
const (
	opUnreachable  = 0x00
	opBlock        = 0x02
	opLoop         = 0x03
	opIf           = 0x04
	opElse         = 0x05
	opEnd          = 0x0b
	opBr           = 0x0c
	opBrTable      = 0x0e
	opReturn       = 0x0f
	opCall         = 0x10
	opCallIndirect = 0x11
	opBulk         = 0xfc
)

// immediate is what follows an instruction in its code.
type immediate byte

const (
	noImmediate immediate = iota
	oneNumber
	twoNumbers
	signed32
	signed64
	fourBytes
	eightBytes
)

// shape is what an instruction takes off the stack and leaves on it.
type shape struct {
	known        bool
	takes, gives int
	immediate    immediate
}

// shapes are those of the instructions of one byte whose effect does not depend
// on where they stand.
//
// Source: WebAssembly Core Specification 2.0, section 5.4.
var shapes = func() (t [256]shape) {
	set := func(first, last, takes, gives int, i immediate) {
		for op := first; op <= last; op++ {
			t[op] = shape{true, takes, gives, i}
		}
	}
	set(0x01, 0x01, 0, 0, noImmediate) // nop
	set(0x0d, 0x0d, 1, 0, oneNumber)   // br_if
	set(0x1a, 0x1a, 1, 0, noImmediate) // drop
	set(0x1b, 0x1b, 3, 1, noImmediate) // select
	set(0x20, 0x20, 0, 1, oneNumber)   // local.get
	set(0x21, 0x21, 1, 0, oneNumber)   // local.set
	set(0x22, 0x22, 1, 1, oneNumber)   // local.tee
	set(0x23, 0x23, 0, 1, oneNumber)   // global.get
	set(0x24, 0x24, 1, 0, oneNumber)   // global.set
	set(0x28, 0x35, 1, 1, twoNumbers)  // loads
	set(0x36, 0x3e, 2, 0, twoNumbers)  // stores
	set(0x3f, 0x3f, 0, 1, oneNumber)   // memory.size
	set(0x40, 0x40, 1, 1, oneNumber)   // memory.grow
	set(0x41, 0x41, 0, 1, signed32)
	set(0x42, 0x42, 0, 1, signed64)
	set(0x43, 0x43, 0, 1, fourBytes)
	set(0x44, 0x44, 0, 1, eightBytes)
	set(0x45, 0xc4, 2, 1, noImmediate) // numeric; those of one operand follow
	for _, unary := range [][2]int{{0x45, 0x45}, {0x50, 0x50}, {0x67, 0x69}, {0x79, 0x7b}, {0x8b, 0x91}, {0x99, 0x9f}, {0xa7, 0xc4}} {
		set(unary[0], unary[1], 1, 1, noImmediate)
	}
	return t
}()

// bulkShapes are those of the instructions that begin with [opBulk].
var bulkShapes = [...]shape{
	{true, 1, 1, noImmediate}, {true, 1, 1, noImmediate}, {true, 1, 1, noImmediate}, {true, 1, 1, noImmediate}, // saturating
	{true, 1, 1, noImmediate}, {true, 1, 1, noImmediate}, {true, 1, 1, noImmediate}, {true, 1, 1, noImmediate},
	{true, 3, 0, twoNumbers}, {true, 0, 0, oneNumber}, // memory.init, data.drop
	{true, 3, 0, twoNumbers}, {true, 3, 0, oneNumber}, // memory.copy, memory.fill
	{true, 3, 0, twoNumbers}, {true, 0, 0, oneNumber}, // table.init, elem.drop
	{true, 3, 0, twoNumbers}, // table.copy
}

func (r *reader) immediate(i immediate) {
	switch i {
	case noImmediate:
	case oneNumber:
		r.number()
	case twoNumbers:
		r.number()
		r.number()
	case signed32:
		r.signed(32)
	case signed64:
		r.signed(64)
	case fourBytes:
		r.bytes(4)
	case eightBytes:
		r.bytes(8)
	}
}
