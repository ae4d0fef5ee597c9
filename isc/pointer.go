package isc

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Get resolves a plain JSON Pointer (RFC 6901) in doc. The value is canonical
// and is the caller's.
func Get(doc []byte, pointer string) (json.RawMessage, bool) {
	tokens, err := splitPointer(pointer)
	if err != nil {
		return nil, false
	}
	raw, err := Canonical(doc)
	if err != nil {
		return nil, false
	}
	for _, token := range tokens {
		next, ok := child(raw, token)
		if !ok {
			return nil, false
		}
		raw = next
	}
	return slices.Clone(raw), true
}

// child is the member or element of canonical bytes that token names.
func child(raw json.RawMessage, token string) (json.RawMessage, bool) {
	switch raw[0] {
	case '{':
		for key, value := range Members(raw) {
			if key == token {
				return value, true
			}
		}
	case '[':
		i, bad := strconv.Atoi(token)
		if bad != nil || strconv.Itoa(i) != token || i < 0 {
			return nil, false
		}
		for value := range Elements(raw) {
			if i == 0 {
				return value, true
			}
			i--
		}
	}
	return nil, false
}

// Select resolves a pointer in which "*" stands for every element of an array or
// every member of an object, in the order of the elements or keys. The result is
// flat. Branches that lack a member are left out; a number where an array stands
// is an error, since the first of several is a choice that nobody made.
func Select(doc []byte, pointer string) ([]json.RawMessage, error) {
	tokens, err := splitPointer(pointer)
	if err != nil {
		return nil, err
	}
	raw, err := Canonical(doc)
	if err != nil {
		return nil, err
	}
	at := []json.RawMessage{raw}
	for _, token := range tokens {
		if at, err = descend(at, token); err != nil {
			return nil, err
		}
	}
	for i := range at {
		at[i] = slices.Clone(at[i])
	}
	return at, nil
}

func descend(from []json.RawMessage, token string) ([]json.RawMessage, error) {
	var out []json.RawMessage
	for _, raw := range from {
		switch {
		case raw[0] == '[' && token == "*":
			out = slices.AppendSeq(out, Elements(raw))
		case raw[0] == '[' && isIndex(token):
			return nil, errors.New(`isc: pointer: a number cannot choose an element; use "*"`)
		case raw[0] == '{':
			for key, value := range Members(raw) {
				if token == "*" || key == token {
					out = append(out, value)
				}
			}
		}
	}
	return out, nil
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func isIndex(token string) bool {
	return token == "-" || token != "" && strings.Trim(token, "0123456789") == ""
}

// splitPointer gives the unescaped tokens of a pointer; "" has none.
func splitPointer(pointer string) ([]string, error) {
	if pointer == "" {
		return nil, nil
	}
	if pointer[0] != '/' {
		return nil, fmt.Errorf("isc: pointer: must be empty or start with a slash")
	}
	tokens := strings.Split(pointer[1:], "/")
	for i, t := range tokens {
		rest := strings.ReplaceAll(strings.ReplaceAll(t, "~0", ""), "~1", "")
		if strings.Contains(rest, "~") {
			return nil, fmt.Errorf("isc: pointer: a ~ must be written ~0, a / within a name ~1")
		}
		tokens[i] = strings.ReplaceAll(strings.ReplaceAll(t, "~1", "/"), "~0", "~")
	}
	return tokens, nil
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// joinPointer appends a token to a pointer.
func joinPointer(pointer, token string) string { return pointer + "/" + pointerEscapes.Replace(token) }
