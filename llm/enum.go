package llm

import (
	"fmt"
	"slices"
)

// enumText gives the name at i, and an error for a value that has none.
func enumText(what string, names []string, i uint8) ([]byte, error) {
	if int(i) >= len(names) || names[i] == "" {
		return nil, fmt.Errorf("llm: %s %d has no name", what, i)
	}
	return []byte(names[i]), nil
}

// enumString is enumText for people: it always says something.
func enumString(what string, names []string, i uint8) string {
	if int(i) >= len(names) || names[i] == "" {
		return fmt.Sprintf("%s(%d)", what, i)
	}
	return names[i]
}

// enumValue is the reverse of enumText. It knows no default.
func enumValue(what string, names []string, text []byte) (uint8, error) {
	i := slices.Index(names, string(text))
	if i < 0 || len(text) == 0 {
		return 0, fmt.Errorf("llm: unknown %s %.40q", what, text)
	}
	return uint8(i), nil
}
