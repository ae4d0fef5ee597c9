package llmtest

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// words are the lower-case words of a name: "metro_hail__ride.fare" has four,
// "GmailSendEmail" has three.
func words(name string) []string {
	var out []string
	var word []rune
	end := func() {
		if len(word) > 0 {
			out, word = append(out, strings.ToLower(string(word))), nil
		}
	}
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			end()
			continue
		case unicode.IsUpper(r) && len(word) > 0 && unicode.IsLower(word[len(word)-1]):
			end()
		}
		word = append(word, r)
	}
	end()
	return out
}

// endsWith says whether the last words of name are those of use, and what
// stands before them.
func endsWith(name, use string) (before []string, ok bool) {
	n, u := words(name), words(use)
	if len(u) == 0 || len(n) < len(u) || !slices.Equal(n[len(n)-len(u):], u) {
		return nil, false
	}
	return n[:len(n)-len(u)], true
}

// named says whether the words of name stand in a, one after another.
func named(a, name string) bool {
	in, n := words(a), words(name)
	for i := range len(in) - len(n) + 1 {
		if len(n) > 0 && slices.Equal(in[i:i+len(n)], n) {
			return true
		}
	}
	return false
}

func title(ws []string) string {
	out := slices.Clone(ws)
	for i, w := range out {
		first, size := utf8.DecodeRuneInString(w)
		out[i] = string(unicode.ToUpper(first)) + w[size:]
	}
	return strings.Join(out, " ")
}

// synonyms are the words by which a function may be called that does what a
// directive says.
var synonyms = map[string][]string{
	"find":   {"find", "search", "lookup", "locate", "query"},
	"read":   {"read", "get", "open", "fetch", "download", "view"},
	"send":   {"send", "forward", "post", "upload", "transfer"},
	"delete": {"delete", "remove", "erase", "trash"},

	"mail":   {"mail", "email", "gmail", "message", "inbox"},
	"file":   {"file", "files", "drive", "document", "doc"},
	"note":   {"note", "notes"},
	"event":  {"event", "calendar"},
	"record": {"record", "records"},

	"query": {"query", "q", "text", "contains", "containing", "keyword", "name", "term", "search"},
	"to":    {"to", "recipient", "recipients", "address", "email", "url"},
	"body":  {"body", "text", "content", "contents", "message", "attachment"},
	"id":    {"id", "ids"},
}

var kinds = map[string]string{
	"email": "mail", "mail": "mail", "message": "mail", "file": "file", "document": "file",
	"note": "note", "event": "event", "entrie": "event", "record": "record", "post": "mail",
}

// kindOf is the kind of thing that a word names: "e-mails" is mail.
func kindOf(noun string) string {
	noun = strings.TrimSuffix(strings.ReplaceAll(strings.ToLower(noun), "-", ""), "s")
	if k, ok := kinds[noun]; ok {
		return k
	}
	return noun
}

// says whether one of ws is a synonym of word.
func says(ws []string, word string) bool {
	return slices.ContainsFunc(synonyms[word], func(w string) bool { return slices.Contains(ws, w) })
}
