package planner

import "strings"

// escape makes a name a part of a JSON Pointer (RFC 6901).
func escape(name string) string {
	if !strings.ContainsAny(name, "~/") {
		return name
	}
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

// split is the parts of a pointer, still escaped. A pointer that is none gives
// false.
func split(pointer string) ([]string, bool) {
	if pointer == "" {
		return nil, true
	}
	if pointer[0] != '/' {
		return nil, false
	}
	return strings.Split(pointer[1:], "/"), true
}

// isNumber says whether a part of a pointer could only be an index.
func isNumber(part string) bool {
	return part != "" && strings.Trim(part, "0123456789") == ""
}

// unescape is the name that a part of a pointer stands for.
func unescape(part string) string {
	if !strings.Contains(part, "~") {
		return part
	}
	return strings.ReplaceAll(strings.ReplaceAll(part, "~1", "/"), "~0", "~")
}
