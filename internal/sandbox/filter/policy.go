package filter

// Answer is what a filter says to a call, as the kernel encodes it.
type Answer uint32

// The answers. The zero Answer ends the thread.
const (
	Pass   Answer = 0x7fff0000
	Kill   Answer = 0x80000000 // the whole process
	EPERM  Answer = 0x00050000 | 1
	EINVAL Answer = 0x00050000 | 22
	ENOSYS Answer = 0x00050000 | 38 // as of a kernel that does not know the call
)

// Policy says what a process may ask of the kernel.
type Policy struct {
	Rules []Rule
	// Rest answers what no rule names, and Newer what has a number above all that
	// this package knows.
	Rest, Newer Answer
}

// Rule answers the calls that it names. The first clause that holds of the
// arguments decides; if none does, Rest.
type Rule struct {
	Calls   []string
	Clauses []Clause
	Rest    Answer
}

// Clause holds if all of its conditions do.
type Clause struct {
	When   []Cond
	Answer Answer
}

// Cond compares argument Arg (from 0) under a mask. The kernel cuts an int down
// to 32 bits: a condition for passing looks at all 64, one for refusing at the
// lower 32 only, so that bits above hide nothing.
type Cond struct {
	Arg         int
	Mask, Value uint64
}

// Is is the condition that argument arg under the mask is value.
func Is(arg int, mask, value uint64) Cond { return Cond{arg, mask, value} }

// Masks of a condition.
const (
	All   = ^uint64(0)
	Low32 = uint64(0xffffffff)
)

// Allow passes the calls whatever their arguments.
func Allow(calls ...string) Rule { return Rule{Calls: calls, Rest: Pass} }

// Refuse answers EPERM.
func Refuse(calls ...string) Rule { return Rule{Calls: calls, Rest: EPERM} }

// Unknown answers ENOSYS: the caller then does it in the older way.
func Unknown(calls ...string) Rule { return Rule{Calls: calls, Rest: ENOSYS} }

// AllowIf passes a call if its argument is one of values, and else refuses it.
func AllowIf(call string, arg int, values ...uint64) Rule {
	return either(call, arg, All, values, Pass, EPERM)
}

// RefuseIf refuses a call if its argument, its lower 32 bits under the mask, is
// one of values, and else passes it.
func RefuseIf(call string, arg int, mask uint64, values ...uint64) Rule {
	return either(call, arg, mask&Low32, values, EPERM, Pass)
}

// RefuseBits refuses a call if its argument has one of bits (of the lower 32), and
// else passes it.
func RefuseBits(call string, arg int, bits uint64) Rule {
	return either(call, arg, bits&Low32, []uint64{0}, Pass, EPERM)
}

func either(call string, arg int, mask uint64, values []uint64, answer, rest Answer) Rule {
	r := Rule{Calls: []string{call}, Rest: rest}
	for _, v := range values {
		r.Clauses = append(r.Clauses, Clause{[]Cond{{arg, mask, v}}, answer})
	}
	return r
}
