package hub

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/permission"
)

// fieldsOf tells what the hub knows of the single values of a body: each value
// that is there, with its role by the format and with label, except that a
// target which stands word for word in the user's request counts as the user's.
// A value of which the format says nothing may go anywhere, so it counts as a
// destination.
func (r *run) fieldsOf(f *isc.Format, body json.RawMessage, label isc.Label) []permission.PayloadField {
	var out []permission.PayloadField
	places(body, "", "", func(at, general string, v json.RawMessage) {
		p := permission.PayloadField{Pointer: at, Label: label, Role: isc.Destination}
		if known, ok := f.At(general); ok && known.Role != 0 && !(known.Guessed && known.Types == anything) {
			p.Role, p.Closed = known.Role, known.Closed
		}
		if p.Role.IsTarget() && r.namedByUser(v) {
			p.Label = isc.UserLabel()
		}
		out = append(out, p)
	})
	return out
}

// anything is what a format allows of which it says nothing.
const anything = isc.TypeNull | isc.TypeBoolean | isc.TypeInteger | isc.TypeNumber | isc.TypeString | isc.TypeArray | isc.TypeObject

// places yields the scalars of a canonical value, each with its pointer and
// with the pointer in which "*" stands for the elements of arrays.
func places(v json.RawMessage, at, general string, yield func(at, general string, v json.RawMessage)) {
	if len(v) == 0 {
		return
	}
	switch v[0] {
	case '{':
		var members map[string]json.RawMessage
		if json.Unmarshal(v, &members) != nil {
			return
		}
		for _, name := range slices.Sorted(maps.Keys(members)) {
			token := "/" + escapePointer(name)
			places(members[name], at+token, general+token, yield)
		}
	case '[':
		items, err := elementsOf(v)
		if err != nil {
			return
		}
		for i, item := range items {
			places(item, fmt.Sprintf("%s/%d", at, i), general+"/*", yield)
		}
	default:
		yield(at, general, v)
	}
}

// namedByUser says whether a value of at least three characters stands, to the
// letter and as words of its own, in the user's request.
func (r *run) namedByUser(v json.RawMessage) bool {
	word := plain(v)
	if len(word) < 3 {
		return false
	}
	for at := 0; ; at++ {
		next := strings.Index(r.text[at:], word)
		if next < 0 {
			return false
		}
		at += next
		if !goesOnBefore(r.text[:at]) && !goesOnAfter(r.text[at+len(word):]) {
			return true
		}
	}
}

// goesOnBefore and goesOnAfter say whether a word that is cut out there is part
// of a longer word, address, path or URL. Marks end a word only if nothing of a
// word is beyond them.
func goesOnBefore(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(text, marks+")]}"))
	return partOfWord(last)
}

func goesOnAfter(text string) bool {
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(text, marks+"([{"))
	return partOfWord(first)
}

// marks end a sentence or quote as well as join the parts of an address. The last
// three are dots to who resolves a name.
const marks = ".:?&#!,;'\"|^`\u3002\uff0e\uff61"

func partOfWord(r rune) bool {
	return r != utf8.RuneError && (unicode.In(r, unicode.L, unicode.N, unicode.M, unicode.Cf) || strings.ContainsRune("_-@/+%=~\\$*", r))
}
