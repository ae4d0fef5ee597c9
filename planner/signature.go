package planner

import (
	"slices"
	"strings"

	"github.com/isolategpt/isolategpt/isc"
)

// Bounds of what is shown of one format.
const (
	maxShownDepth  = 4
	maxShownFields = 16
)

// node is a format as a tree, with only what may be shown whoever wrote the
// format: names that are names, and types. It holds no annotation.
type node struct {
	name     string
	required bool
	t        typ
	fields   []*node // sorted: required first, then by name
	elem     *node   // for "*"
}

// treeOf is the tree of a format.
func treeOf(f *places) *node {
	if f == nil {
		return &node{t: anything()}
	}
	root := &node{}
	root.t, _ = formatType(f, "")
	for _, d := range f.format.Fields() {
		parts, ok := split(d.Pointer)
		if !ok || len(parts) == 0 || len(parts) > maxShownDepth {
			continue
		}
		root.add(f, parts, d)
	}
	root.sort()
	return root
}

func (n *node) add(f *places, parts []string, d isc.Field) {
	at := ""
	for _, part := range parts {
		at += "/" + part
		n = n.at(part)
		if n == nil {
			return
		}
		if n.t.types == 0 {
			n.t, _ = formatType(f, at)
		}
	}
	n.required = d.Required
}

// at is the child for a part of a pointer, made if it is not there; nil if its
// name may not be shown.
func (n *node) at(part string) *node {
	if part == "*" {
		if n.elem == nil {
			n.elem = &node{name: "*"}
		}
		return n.elem
	}
	name := unescape(part)
	if !plainName.MatchString(name) {
		return nil
	}
	for _, c := range n.fields {
		if c.name == name {
			return c
		}
	}
	c := &node{name: name}
	n.fields = append(n.fields, c)
	return c
}

func (n *node) sort() {
	slices.SortFunc(n.fields, func(a, b *node) int {
		if a.required != b.required {
			if a.required {
				return -1
			}
			return 1
		}
		return compare(a.name, b.name)
	})
	if len(n.fields) > maxShownFields {
		n.fields = n.fields[:maxShownFields]
	}
	for _, c := range n.fields {
		c.sort()
	}
	if n.elem != nil {
		n.elem.sort()
	}
}

// text is the type in few words: "number", "date", "[{id: integer}]".
func (n *node) text() string {
	kinds := n.t.types &^ isc.TypeNull
	switch {
	case n.t.any || n.t.types == 0:
		return "any"
	case kinds == isc.TypeArray && n.elem != nil:
		return "[" + n.elem.text() + "]"
	case kinds == isc.TypeArray:
		return "[any]"
	case kinds == isc.TypeObject:
		return "{" + n.members() + "}"
	case kinds == isc.TypeString:
		if words := tokens(n.t.enum); words != nil {
			return strings.Join(words, "|")
		}
		if n.t.format != "" {
			return n.t.format
		}
		return "string"
	}
	var names []string
	for _, k := range []struct {
		t    isc.Types
		name string
	}{
		{isc.TypeBoolean, "boolean"}, {isc.TypeInteger, "integer"}, {isc.TypeNumber, "number"},
		{isc.TypeString, "string"}, {isc.TypeArray, "array"}, {isc.TypeObject, "object"}, {isc.TypeNull, "nothing"},
	} {
		if n.t.types&k.t != 0 && (k.t != isc.TypeNull || kinds == 0) && (k.t != isc.TypeInteger || kinds&isc.TypeNumber == 0) {
			names = append(names, k.name)
		}
	}
	return strings.Join(names, "|")
}

// members are an object's fields; optional ones have a question mark.
func (n *node) members() string {
	var out []string
	for _, c := range n.fields {
		mark := ""
		if !c.required {
			mark = "?"
		}
		out = append(out, c.name+mark+": "+c.text())
	}
	if n.elem != nil {
		out = append(out, "*: "+n.elem.text())
	}
	return strings.Join(out, ", ")
}

// pointers adds every pointer that can lead into a value.
func (n *node) pointers(at string, into map[string]bool) {
	into[at] = true
	for _, c := range n.fields {
		c.pointers(at+"/"+escape(c.name), into)
	}
	if n.elem != nil {
		n.elem.pointers(at+"/*", into)
		if n.t.types&isc.TypeArray != 0 { // an element that was picked has pointers of its own
			n.elem.pointers("", into)
		}
	}
}

// card is an entry as planning sees it: derived once, from names, types and
// vouched text only.
type card struct {
	name      string
	signature string
	request   *node
	response  *node
	schema    string // the alternative of its calls in a reply's schema
}

func cardOf(e Entry, request, response *places) card {
	c := card{name: e.Name, request: treeOf(request), response: treeOf(response)}
	c.schema = callSchema(e, c.request)
	var b strings.Builder
	b.WriteString("- " + e.Name + "(" + c.request.members() + ") -> " + c.response.text())
	switch e.Effect {
	case isc.Read:
	case isc.Write:
		b.WriteString(" [changes data]")
	default:
		b.WriteString(" [cannot be undone]")
	}
	if len(e.Providers) > 1 {
		ids := make([]string, len(e.Providers))
		for i, id := range e.Providers {
			ids[i] = string(id)
		}
		b.WriteString(" [apps: " + strings.Join(ids, ", ") + "]")
	} else if len(e.Providers) == 1 && !strings.HasPrefix(e.Name, string(e.Providers[0])+"/") {
		b.WriteString(" [app: " + string(e.Providers[0]) + "]")
	}
	if d := oneLine(e.Description); d != "" {
		b.WriteString(": " + d)
	}
	c.signature = b.String()
	return c
}

// oneLine makes a vouched text, or the user's, one short line.
func oneLine(s string) string {
	const most = 160
	if !isOneLine(s) {
		s = strings.Join(strings.Fields(s), " ")
	}
	if len(s) <= most {
		return s
	}
	cut := strings.ToValidUTF8(s[:most], "")
	return cut + "…"
}

// isOneLine says whether s is printable ASCII with single spaces between words.
func isOneLine(s string) bool {
	space := true // before the first word none may stand
	for i := range len(s) {
		c := s[i]
		if c < ' ' || c > '~' || c == ' ' && space {
			return false
		}
		space = c == ' '
	}
	return s == "" || !space
}
