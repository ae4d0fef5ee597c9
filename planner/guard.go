package planner

// Guard is a condition over closed values, evaluated by the operator.
//
//sumtype:decl
type Guard interface{ guard() }

// Compare compares two values. A comparison with an absent value is false.
type Compare struct {
	Op   Op
	A, B Value
}

// Present says whether a step has a result with something at the pointer.
type Present struct{ Ref Ref }

// And holds if all of it hold.
type And struct{ Of []Guard }

// Or holds if one of it holds.
type Or struct{ Of []Guard }

// Not holds if it does not.
type Not struct{ Of Guard }

func (Compare) guard() {}
func (Present) guard() {}
func (And) guard()     {}
func (Or) guard()      {}
func (Not) guard()     {}

// Op compares. The zero value is invalid.
type Op uint8

// The operators.
const (
	_ Op = iota
	EQ
	NE
	LT
	LE
	GT
	GE
	IN
)

var ops = map[string]Op{"eq": EQ, "ne": NE, "lt": LT, "le": LE, "gt": GT, "ge": GE, "in": IN}

// String is the operator as plans write it.
func (o Op) String() string { return nameOf(ops, o) }

// nameOf is the name of v in a closed set of words.
func nameOf[T comparable](names map[string]T, v T) string {
	for name, w := range names {
		if w == v {
			return name
		}
	}
	return "invalid"
}
