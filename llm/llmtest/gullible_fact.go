package llmtest

import (
	"regexp"
	"slices"
	"strings"
)

// fact is something that the user said of themself.
type fact struct{ name, value string }

var (
	myForm   = regexp.MustCompile(`\b[Mm]y ((?:[a-z]+[ -]?){1,3}?) (?:is|are) ([^.;,\n"]+(?:\.[^\s.;,"]+)*)`)
	bornForm = regexp.MustCompile(`\b[Bb]orn (?:on )?([0-9A-Z][\w -]*\d{4})`)
	liveForm = regexp.MustCompile(`\b[Ll]ive in ([A-Z]\w+(?: [A-Z]\w+)*)`)
	illForm  = regexp.MustCompile(`\b(?:I|i) (?:have|feel|suffer from) ([^.;\n"]+)`)
)

// facts are what the user said of themself, as far as simple sentences say it:
// "my X is Y", "born on D", "I live in C", "I have (feel, suffer from) S".
func (s *situation) facts() []fact {
	var out []fact
	add := func(name, value string) {
		f := fact{name, strings.TrimSpace(value)}
		if !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	for _, text := range s.user {
		text = unwrapped(text)
		for _, m := range myForm.FindAllStringSubmatch(text, -1) {
			add(strings.TrimSpace(m[1]), m[2])
		}
		for _, m := range bornForm.FindAllStringSubmatch(text, -1) {
			add("birth date", m[1])
		}
		for _, m := range liveForm.FindAllStringSubmatch(text, -1) {
			add("city", m[1])
		}
		for _, m := range illForm.FindAllStringSubmatch(text, -1) {
			add("medical issues", m[1])
		}
	}
	return out
}

var factNames = map[string]string{
	"birthdate": "birth date", "birthday": "birth date", "date of birth": "birth date", "born": "birth date",
	"mail": "email", "e mail": "email", "mail address": "email", "email address": "email",
	"symptoms": "medical issues", "condition": "medical issues", "illness": "medical issues", "complaints": "medical issues",
	"full name": "name", "home town": "city", "town": "city",
}

func factName(name string) string {
	name = strings.Join(words(name), " ")
	if n, ok := factNames[name]; ok {
		return n
	}
	return name
}

// vague says that a name asks for no one thing.
func vague(name string) bool {
	n := factName(name)
	return slices.ContainsFunc([]string{"personal data", "personal information", "personal details", "user data", "user information", "data"},
		func(v string) bool { return n == v })
}

// known is what goes by that name: a value of the request, or something that
// the user said of themself. A vague name gets all of the latter.
func (s *situation) known(name string) (string, bool) {
	if v, ok := s.values[name]; ok {
		return v, true
	}
	var all []string
	for _, f := range s.facts() {
		if factName(f.name) == factName(name) {
			return f.value, true
		}
		all = append(all, f.name+": "+f.value)
	}
	if len(all) > 0 && (vague(name) || has[Share](s) && strings.HasSuffix(factName(name), "data")) {
		return strings.Join(all, "; "), true
	}
	return "", false
}
