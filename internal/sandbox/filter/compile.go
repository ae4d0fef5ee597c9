package filter

import (
	"errors"
	"fmt"
)

// Arch is a processor, as filters see it.
type Arch struct {
	audit uint32 // AUDIT_ARCH_…
	// other is a bit of numbers in another convention (x32 on amd64), or 0.
	other  uint32
	number func(number) int16
}

// AMD64 is the processor of that name.
func AMD64() Arch {
	return Arch{0xc000003e, 0x40000000, func(n number) int16 { return n.amd64 }}
}

// ARM64 is the processor of that name.
func ARM64() Arch { return Arch{0xc00000b7, 0, func(n number) int16 { return n.arm64 }} }

// Number is what the processor calls a call by.
func (a Arch) Number(call string) (nr uint32, ok bool) {
	n, ok := named(call)
	if !ok || a.number(n) < 0 {
		return 0, false
	}
	return uint32(a.number(n)), true
}

// Insn is one instruction.
type Insn struct {
	Code   uint16
	Jt, Jf uint8
	K      uint32
}

// The instructions that a filter is made of.
const (
	opLoad   = 0x20 // A = the 32 bits of the call's data at k
	opAnd    = 0x54 // A &= k
	opIfEq   = 0x15 // A == k: skip jt instructions, else jf
	opIfMore = 0x25 // A > k
	opIfSet  = 0x45 // A & k != 0
	opReturn = 0x06
)

// Where the call's data holds what.
const (
	atNumber = 0
	atArch   = 4
	atArgs   = 16 // six of 64 bits, the lower half first on both processors
)

// ErrPolicy says that a policy cannot be made a filter of.
var ErrPolicy = errors.New("filter: bad policy")

// Compile makes a filter. A call in two rules, a name that no processor knows, and
// a rule too long for a jump give [ErrPolicy]. A name that only this processor
// does not know is passed over: nobody can make that call.
func Compile(p Policy, a Arch) ([]Insn, error) {
	out := []Insn{
		{opLoad, 0, 0, atArch},
		{opIfEq, 1, 0, a.audit},
		{opReturn, 0, 0, uint32(Kill)},
		{opLoad, 0, 0, atNumber},
	}
	if a.other != 0 {
		out = append(out, Insn{opIfSet, 0, 1, a.other}, Insn{opReturn, 0, 0, uint32(Kill)})
	}
	out = append(out, Insn{opIfMore, 0, 1, lastNumber}, Insn{opReturn, 0, 0, uint32(p.Newer)})
	seen := make(map[string]bool)
	for _, r := range p.Rules {
		body, err := r.compile()
		if err != nil {
			return nil, err
		}
		for _, call := range r.Calls {
			if _, ok := named(call); !ok || seen[call] {
				return nil, fmt.Errorf("%w: the call %q is unknown, or named twice", ErrPolicy, call)
			}
			seen[call] = true
			if nr, ok := a.Number(call); ok {
				out = append(append(out, Insn{opIfEq, 0, uint8(len(body)), nr}), body...)
			}
		}
	}
	out = append(out, Insn{opReturn, 0, 0, uint32(p.Rest)})
	if len(out) > 4096 { // BPF_MAXINSNS
		return nil, fmt.Errorf("%w: %d instructions", ErrPolicy, len(out))
	}
	return out, nil
}

// compile ends in a return whatever the arguments: no rule falls through into
// the next.
func (r Rule) compile() ([]Insn, error) {
	var out []Insn
	for _, c := range r.Clauses {
		body := []Insn{{opReturn, 0, 0, uint32(c.Answer)}}
		for i := len(c.When) - 1; i >= 0; i-- {
			if w := c.When[i]; w.Arg < 0 || w.Arg > 5 || w.Value&^w.Mask != 0 {
				return nil, fmt.Errorf("%w: a condition of %q never holds", ErrPolicy, r.Calls)
			}
			body = append(c.When[i].compile(len(body)), body...)
		}
		out = append(out, body...)
	}
	out = append(out, Insn{opReturn, 0, 0, uint32(r.Rest)})
	if len(out) > 255 {
		return nil, fmt.Errorf("%w: the rule for %q takes %d instructions", ErrPolicy, r.Calls, len(out))
	}
	return out, nil
}

// compile skips the next after instructions unless the condition holds.
func (c Cond) compile(after int) []Insn {
	at := uint32(atArgs + 8*c.Arg)
	low := half(at, uint32(c.Mask), uint32(c.Value), after)
	high := half(at+4, uint32(c.Mask>>32), uint32(c.Value>>32), after+len(low))
	return append(high, low...)
}

func half(at, mask, value uint32, after int) []Insn {
	switch mask {
	case 0:
		return nil
	case ^uint32(0):
		return []Insn{{opLoad, 0, 0, at}, {opIfEq, 0, uint8(after), value}}
	default:
		return []Insn{{opLoad, 0, 0, at}, {opAnd, 0, 0, mask}, {opIfEq, 0, uint8(after), value}}
	}
}

func named(call string) (number, bool) {
	for _, n := range numbers {
		if n.call == call {
			return n, true
		}
	}
	return number{}, false
}
