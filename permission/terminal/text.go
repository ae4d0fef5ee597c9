package terminal

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/isolategpt/isolategpt/isc"
)

// maxShown is how many columns of a value a dialog shows at once.
const maxShown = 160

// visible is s on one line with nothing hidden in it.
func visible(s string) string { return isc.Visible(s) }

// word is s where only the words of the hub stand. The gate lets through no name
// with other characters; should one come, it is not repeated there.
func word(s string) string {
	odd := strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_.-", r))
	})
	switch {
	case s == "":
		return "(none)"
	case odd || len(s) > 64:
		return "(an odd name)"
	default:
		return s
	}
}

// bars is a line of hub text, a bar, and text of others, in as many lines as it
// needs, each with its bar.
func bars(hub, text string) string {
	prefix := "  | "
	if hub != "" {
		prefix = hub + " | "
	}
	var b strings.Builder
	for i, piece := range wrap(text, max(20, columns-width(prefix))) {
		if i > 0 {
			prefix = strings.Repeat(" ", max(0, width(prefix)-3)) + " | "
			prefix = prefix[len(prefix)-min(len(prefix), columns/2):]
		}
		b.WriteString(prefix + piece + "\n")
	}
	return b.String()
}

// paragraph is hub text in as many lines as it needs, broken between words where
// it can be, the further ones indented.
func paragraph(head, text string) string {
	var b strings.Builder
	indent := strings.Repeat(" ", width(head))
	line := ""
	flush := func() {
		for _, piece := range wrap(line, columns-width(head)) {
			b.WriteString(head + piece + "\n")
			head = indent
		}
	}
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == "":
			line = word
		case width(line)+1+width(word) <= columns-width(head):
			line += " " + word
		default:
			flush()
			line = word
		}
	}
	flush()
	return b.String()
}

// wrap cuts s into pieces of at most n columns. An empty s is one empty piece.
func wrap(s string, n int) []string {
	var out []string
	var b strings.Builder
	used := 0
	for _, r := range s {
		w := runeWidth(r)
		if used+w > n {
			out = append(out, b.String())
			b.Reset()
			used = 0
		}
		b.WriteRune(r)
		used += w
	}
	return append(out, b.String())
}

func width(s string) int {
	n := 0
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

// runeWidth is the columns of r, in doubt one too many: a mark that joins the
// letter before it has none, East Asian letters and pictures have two.
func runeWidth(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0xa4cf, r >= 0xac00 && r <= 0xd7a3,
		r >= 0xf900 && r <= 0xfaff, r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60,
		r >= 0xffe0 && r <= 0xffe6, r >= 0x1f000 && r <= 0x3fffd:
		return 2
	default:
		return 1
	}
}

// shorten keeps the head and the tail of s, which is visible text, and counts
// what is between.
func shorten(s string, n int) string {
	runes := []rune(s)
	if len(runes) <= n {
		return s
	}
	head, tail := n*2/3, n/4
	return fmt.Sprintf("%s ...(%d characters, %d not shown, v shows all)... %s",
		string(runes[:head]), len(runes), len(runes)-head-tail, string(runes[len(runes)-tail:]))
}

// shortName keeps the head of a display name. The id beside it is what counts.
func shortName(s string) string {
	runes := []rune(s)
	if width(s) <= maxName {
		return s
	}
	head := wrap(s, maxName-8)[0]
	return fmt.Sprintf("%s...(+%d)", head, len(runes)-len([]rune(head)))
}

// view decides how much of a text is shown, and counts what is not.
type view struct {
	full     bool
	abridged int
}

// text is s, or its head and tail.
func (v *view) text(s string) string { return v.count(s, shorten(s, maxShown)) }

// name is the display name s, or its head.
func (v *view) name(s string) string { return v.count(s, shortName(s)) }

func (v *view) count(s, short string) string {
	if v.full || short == s {
		return s
	}
	v.abridged++
	return short
}

// leaveOut says whether something is left out altogether.
func (v *view) leaveOut() bool {
	if !v.full {
		v.abridged++
	}
	return !v.full
}

// leaf is one value of a payload that has no parts.
type leaf struct {
	pointer string
	name    string // the pointer, visible
	value   string // the value as JSON, visible
}

// leaves are all leaves of canonical JSON in a fixed order.
func leaves(raw json.RawMessage) []leaf {
	if len(raw) == 0 {
		return nil
	}
	return appendLeaves(nil, "", raw)
}

var escapeToken = strings.NewReplacer("~", "~0", "/", "~1")

func appendLeaves(out []leaf, pointer string, raw json.RawMessage) []leaf {
	var object map[string]json.RawMessage
	var array []json.RawMessage
	switch {
	case raw[0] == '{' && json.Unmarshal(raw, &object) == nil && len(object) > 0:
		names := make([]string, 0, len(object))
		for name := range object {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			out = appendLeaves(out, pointer+"/"+escapeToken.Replace(name), object[name])
		}
		return out
	case raw[0] == '[' && json.Unmarshal(raw, &array) == nil && len(array) > 0:
		for i, elem := range array {
			out = appendLeaves(out, fmt.Sprintf("%s/%d", pointer, i), elem)
		}
		return out
	}
	name := visible(strings.TrimPrefix(pointer, "/"))
	if pointer == "" {
		name = "value"
	}
	return append(out, leaf{pointer: pointer, name: name, value: visible(readable(raw))})
}

// readable is a leaf with the escapes of JSON undone, so that what hides behind
// \u202e is made visible like everything else. Quotes stay.
func readable(raw json.RawMessage) string {
	var s string
	if raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return string(raw)
	}
	return `"` + s + `"`
}
