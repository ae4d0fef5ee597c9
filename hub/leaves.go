package hub

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// leaves yields the scalars of a canonical value with their pointers, members
// in the order of their names, until yield says no.
func leaves(v json.RawMessage, at string, yield func(pointer string, leaf json.RawMessage) bool) bool {
	if len(v) == 0 {
		return true
	}
	switch v[0] {
	case '{':
		var members map[string]json.RawMessage
		if json.Unmarshal(v, &members) != nil {
			return true
		}
		for _, name := range slices.Sorted(maps.Keys(members)) {
			if !leaves(members[name], at+"/"+escapePointer(name), yield) {
				return false
			}
		}
		return true
	case '[':
		items, err := elementsOf(v)
		if err != nil {
			return true
		}
		for i, item := range items {
			if !leaves(item, fmt.Sprintf("%s/%d", at, i), yield) {
				return false
			}
		}
		return true
	default:
		return yield(at, v)
	}
}
