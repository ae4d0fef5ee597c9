// Package filtertest runs filters as the kernel would, for tests.
//
// # Source
//
// Linux, Documentation/userspace-api/seccomp_filter.rst and the instruction set
// of classic BPF.
package filtertest

import (
	"encoding/binary"
	"fmt"

	"github.com/isolategpt/isolategpt/internal/sandbox/filter"
)

// Processors, as a call's data names them (AUDIT_ARCH_…).
const (
	X86    uint32 = 0x40000003
	X86_64 uint32 = 0xc000003e
	ARM    uint32 = 0x40000028
	ARM64  uint32 = 0xc00000b7
)

// Call is what a filter sees of a call.
type Call struct {
	Arch, Number uint32
	Args         [6]uint64
}

// Run gives the program's answer. An error says that the kernel would not have
// installed the program.
func Run(program []filter.Insn, c Call) (filter.Answer, error) {
	data := binary.LittleEndian.AppendUint32(nil, c.Number)
	data = binary.LittleEndian.AppendUint32(data, c.Arch)
	data = binary.LittleEndian.AppendUint64(data, 0) // instruction pointer
	for _, a := range c.Args {
		data = binary.LittleEndian.AppendUint64(data, a)
	}
	var a uint32
	for pc := 0; pc < len(program); pc++ {
		in := program[pc]
		var jump bool
		switch in.Code {
		case 0x20:
			if in.K%4 != 0 || int(in.K)+4 > len(data) {
				return 0, fmt.Errorf("instruction %d loads from %d", pc, in.K)
			}
			a = binary.LittleEndian.Uint32(data[in.K:])
			continue
		case 0x54:
			a &= in.K
			continue
		case 0x06:
			return filter.Answer(in.K), nil
		case 0x15:
			jump = a == in.K
		case 0x25:
			jump = a > in.K
		case 0x45:
			jump = a&in.K != 0
		default:
			return 0, fmt.Errorf("instruction %d is %#x", pc, in.Code)
		}
		if jump {
			pc += int(in.Jt)
		} else {
			pc += int(in.Jf)
		}
	}
	return 0, fmt.Errorf("the program of %d instructions ends without a return", len(program))
}
