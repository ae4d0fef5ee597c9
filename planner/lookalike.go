package planner

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/isolategpt/isolategpt/isc"
)

// LookAlikeError says that two names of a catalogue could be taken for one
// another. Kind is "app", "functionality" or "display name".
type LookAlikeError struct {
	Kind string
	A, B string
}

// Error names both.
func (e *LookAlikeError) Error() string {
	return fmt.Sprintf("planner: catalogue: %s %q looks like %q: remove one", e.Kind, e.B, e.A)
}

// lookAlikes finds names that could be taken for one another: app ids,
// functionality names, and the display names of different apps.
func lookAlikes(installed, market []isc.Manifest, known []isc.Functionality) error {
	apps, functionalities := lookAlikeSet{kind: "app"}, lookAlikeSet{kind: "functionality"}
	shown := map[string]isc.Manifest{}
	for _, f := range known {
		if err := functionalities.add(string(f.Name)); err != nil {
			return err
		}
	}
	for _, ms := range [][]isc.Manifest{installed, market} {
		for _, m := range ms {
			if err := apps.add(string(m.ID)); err != nil {
				return err
			}
			for _, f := range m.Functionalities {
				if err := functionalities.add(string(f.Name)); err != nil {
					return err
				}
			}
			folded := foldName(m.Name)
			if other, ok := shown[folded]; ok && folded != "" && other.ID != m.ID {
				return &LookAlikeError{Kind: "display name", A: short(other.Name), B: short(m.Name)}
			}
			shown[folded] = m
		}
	}
	return nil
}

// foldName is a display name without case, spaces and marks.
func foldName(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}

// lookAlikeSet finds look-alikes among many names without comparing each with
// each: only names with one coarse skeleton are compared.
type lookAlikeSet struct {
	kind  string
	names map[string][]string
}

func (s *lookAlikeSet) add(name string) error {
	if s.names == nil {
		s.names = map[string][]string{}
	}
	key := skeleton(name)
	for _, other := range s.names[key] {
		if other == name {
			return nil
		}
		if isc.LookAlike(other, name) {
			return &LookAlikeError{Kind: s.kind, A: other, B: name}
		}
	}
	s.names[key] = append(s.names[key], name)
	return nil
}

// skeleton is equal for all names that [isc.LookAlike] could find alike. It
// may be equal for others.
func skeleton(name string) string {
	return strings.NewReplacer("rn", "m", "vv", "w", "0", "o", "1", "l", "i", "l", "5", "s").Replace(name)
}
