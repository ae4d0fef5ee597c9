package spoke

import (
	"encoding/json"
	"slices"
)

// appendTree writes what a codec encoded as encoding/json does, without
// reflection.
func appendTree(b []byte, tree any) ([]byte, error) {
	switch v := tree.(type) {
	case nil:
		return append(b, "null"...), nil
	case bool:
		if v {
			return append(b, "true"...), nil
		}
		return append(b, "false"...), nil
	case json.Number:
		if v != "" && isNumber(string(v)) {
			return append(b, v...), nil
		}
	case string:
		if isPlain(v) {
			return append(append(append(b, '"'), v...), '"'), nil
		}
	case []any:
		return appendItems(b, v)
	case map[string]any:
		return appendMembers(b, v)
	}
	raw, err := json.Marshal(tree)
	return append(b, raw...), err
}

func appendItems(b []byte, items []any) ([]byte, error) {
	b = append(b, '[')
	for i, item := range items {
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = appendTree(b, item); err != nil {
			return nil, err
		}
	}
	return append(b, ']'), nil
}

func appendMembers(b []byte, members map[string]any) ([]byte, error) {
	keys := make([]string, 0, len(members))
	for key := range members {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	b = append(b, '{')
	for i, key := range keys {
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = appendTree(b, key); err != nil {
			return nil, err
		}
		if b, err = appendTree(append(b, ':'), members[key]); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

// isPlain says whether a string stands in JSON as it is.
func isPlain(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&':
			return false
		}
	}
	return true
}
