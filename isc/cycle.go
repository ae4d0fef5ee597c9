package isc

// findCycle refuses schemas that apply themselves to the same value for ever.
// It must come before compiling: a stack that overflows cannot be recovered.
func (l *loader) findCycle() error {
	const (
		open = 1
		done = 2
	)
	state := map[*node]int{}
	var visit func(n *node) error
	visit = func(n *node) error {
		switch state[n] {
		case open:
			return schemaErr(n.at, "a cycle of references that never reads any of the value")
		case done:
			return nil
		}
		state[n] = open
		for _, next := range n.inPlace {
			if err := visit(next); err != nil {
				return err
			}
		}
		state[n] = done
		return nil
	}
	for _, at := range sortedKeys(l.nodes) {
		if err := visit(l.nodes[at]); err != nil {
			return err
		}
	}
	return nil
}
