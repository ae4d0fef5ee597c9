package planner

import (
	"strconv"
	"strings"
)

// path is where in a step or plan something stands. It becomes a JSON Pointer
// only where there is a problem.
type path struct {
	up    *path
	word  string // pointer from up: "" or "/args"
	name  string // then the name of a member,
	index int    // or an element's index,
	kind  pathKind
}

type pathKind uint8

const (
	plainPath pathKind = iota
	memberPath
	itemPath
)

func root(word string) path { return path{word: word} }

func (p *path) to(word string) path { return path{up: p, word: word} }

func (p *path) member(word, name string) path {
	return path{up: p, word: word, name: name, kind: memberPath}
}

func (p *path) item(word string, i int) path {
	return path{up: p, word: word, index: i, kind: itemPath}
}

// String is the pointer.
func (p *path) String() string {
	above := ""
	if p.up != nil {
		above = p.up.String()
	}
	switch p.kind {
	case memberPath:
		return above + p.word + "/" + escape(p.name)
	case itemPath:
		return above + p.word + "/" + strconv.Itoa(p.index)
	default:
		return above + p.word
	}
}

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
