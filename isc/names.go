package isc

import "fmt"

// names is the text form of a closed set of values: list[i] is the name of the
// value first+i.
type names[E ~uint8] struct {
	what  string
	list  []string
	first E
}

func (n names[E]) has(e E) bool { return e >= n.first && int(e-n.first) < len(n.list) }

func (n names[E]) string(e E) string {
	if !n.has(e) {
		return fmt.Sprintf("invalid %s %d", n.what, uint8(e))
	}
	return n.list[e-n.first]
}

func (n names[E]) marshal(e E) ([]byte, error) {
	if !n.has(e) {
		return nil, fmt.Errorf("isc: %s: no such value: %d", n.what, uint8(e))
	}
	return []byte(n.list[e-n.first]), nil
}

func (n names[E]) unmarshal(e *E, b []byte) error {
	for i, name := range n.list {
		if string(b) == name {
			*e = n.first + E(i)
			return nil
		}
	}
	return fmt.Errorf("isc: %s: none of %q", n.what, n.list)
}
