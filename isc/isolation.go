package isc

// Isolation tells what one spoke really runs in. Whoever launched it found that
// out from inside it; it is no word of the app.
type Isolation struct {
	// Name is the kind: "in-process", "process", "wasm".
	Name string `json:"name"`
	// Has is what was shown to hold.
	Has Guarantees `json:"has"`
	// Lacks is what of [FullIsolation], of [DefenceInDepth] and of what its spec
	// prefers is not in Has. [Isolation.Preferring] sets it.
	Lacks Guarantees `json:"lacks"`
	// Layers are the mechanisms, also those that could not be had.
	Layers []Layer `json:"layers,omitempty"`
}

// Layer is one mechanism of an isolation.
type Layer struct {
	Name    string `json:"name"` // "seccomp", "landlock", "namespaces", …
	Applied bool   `json:"applied"`
	// Detail says how ("ABI 7"), or why not.
	Detail string `json:"detail,omitempty"`
}

// Preferring is i with what it lacks of [FullIsolation], [DefenceInDepth] and
// prefer, in place of what Lacks was.
func (i Isolation) Preferring(prefer Guarantees) Isolation {
	i.Lacks = (FullIsolation | DefenceInDepth | prefer).Without(i.Has)
	return i
}

// Degraded says in words what is lacking, or is empty. It is what a dialog about
// the app tells.
func (i Isolation) Degraded() string {
	switch {
	case i.Has == 0:
		return "everything: nothing is known to hold"
	case i.Lacks == 0:
		return ""
	default:
		return i.Lacks.String()
	}
}

// String is for reports: "process: crash-isolation, …; lacks defence-in-depth".
func (i Isolation) String() string {
	s := i.Name + ": " + i.Has.String()
	if i.Lacks != 0 {
		s += "; lacks " + i.Lacks.String()
	}
	return s
}
