package isc

import (
	"encoding/json"
	"iter"
)

// Members yields the members of an object in canonical form (see [Canonical]),
// in the order of their keys. The values are parts of canonical, which nobody
// may change while they are in use. What is no object has none.
//
// It trusts that canonical is what [Canonical] returned and checks nothing; of
// other bytes it yields something or nothing, and does not panic.
func Members[T ~string | ~[]byte](canonical T) iter.Seq2[string, T] {
	return func(yield func(string, T) bool) {
		for i := first(canonical, '{'); i > 0; {
			colon := skip(canonical, i)
			if colon < 0 || colon >= len(canonical) || canonical[colon] != ':' {
				return
			}
			key, ok := keyOf(canonical[i:colon])
			end := skip(canonical, colon+1)
			if !ok || end < 0 || !yield(key, canonical[colon+1:end]) {
				return
			}
			i = following(canonical, end)
		}
	}
}

// Elements yields the elements of an array in canonical form, as [Members] does
// the members of an object.
func Elements[T ~string | ~[]byte](canonical T) iter.Seq[T] {
	return func(yield func(T) bool) {
		for i := first(canonical, '['); i > 0; {
			end := skip(canonical, i)
			if end <= i || !yield(canonical[i:end]) {
				return
			}
			i = following(canonical, end)
		}
	}
}

// first is where the first part of a container starts, or -1.
func first[T ~string | ~[]byte](b T, open byte) int {
	if len(b) < 2 || b[0] != open || b[1] == open+2 {
		return -1
	}
	return 1
}

// following is where the part after one that ends at i starts, or -1.
func following[T ~string | ~[]byte](b T, i int) int {
	if i >= len(b) || b[i] != ',' {
		return -1
	}
	return i + 1
}

// keyOf is the key that a string in canonical form stands for.
func keyOf[T ~string | ~[]byte](raw T) (string, bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	for i := range len(raw) {
		if raw[i] == '\\' {
			var s string
			err := json.Unmarshal([]byte(raw), &s)
			return s, err == nil
		}
	}
	return string(raw[1 : len(raw)-1]), true
}

// skip is where the value that starts at i ends, or -1.
func skip[T ~string | ~[]byte](b T, i int) int {
	depth := 0
	for ; i < len(b); i++ {
		switch b[i] {
		case '"':
			if i = skipString(b, i); i < 0 {
				return -1
			}
			if depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ':':
			if depth == 0 {
				return i
			}
		}
	}
	if depth > 0 {
		return -1
	}
	return i
}

// skipString is where the string that starts at i has its closing quote, or -1.
func skipString[T ~string | ~[]byte](b T, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '"':
			return i
		case '\\':
			i++
		}
	}
	return -1
}
