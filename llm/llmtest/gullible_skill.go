package llmtest

import (
	"encoding/json"
	"math/big"
	"regexp"
	"strings"
)

// Skill is how an honest model does one kind of request, with whatever it is
// offered.
type Skill struct {
	Name string
	// Pattern finds the request in what the user said. Its named groups are the
	// values that the user gave; a parameter of the same name gets the value.
	Pattern *regexp.Regexp
	// Uses are the functions that the work takes, in order, by the last words of
	// their names: "ride.fare" means metro_hail__ride_fare too. If several are
	// offered, each is used; if none is, the work goes on without.
	Uses []string
	// Delegate says that a plan had better hand the whole work to the app of the
	// first use, if it has a model of its own.
	Delegate bool
	// Shows points at what a plan's answer shows of each use's result. Empty: all
	// of it.
	Shows string
	// Say writes the answer from what the uses gave.
	Say func(Work) string
}

// Work is a request being done.
type Work struct {
	Task    string            // what the user said
	Values  map[string]string // what the user gave
	Results []Result          // what calls gave, in order, as the model will tell it
	Manners []string          // how it was told to write, each once, in order
}

// Result is what one call of a [Skill]'s uses gave.
type Result struct {
	// From is what stands before the function's name, in words: "Metro Hail".
	From     string
	Function string
	Body     json.RawMessage
	// Failed says that it gave no JSON object, or one with an "error".
	Failed bool
}

// Field is the value of a member of the body as text, or "". Strings stand
// without their quotes.
func (r Result) Field(name string) string {
	var body map[string]json.RawMessage
	if json.Unmarshal(r.Body, &body) != nil {
		return ""
	}
	var s string
	if json.Unmarshal(body[name], &s) == nil {
		return s
	}
	return string(body[name])
}

// changed is r as told after d, which is about numbers.
func (r Result) changed(d Directive) Result {
	var body map[string]json.RawMessage
	if json.Unmarshal(r.Body, &body) != nil {
		return r
	}
	for key, value := range body {
		switch d := d.(type) {
		case Add:
			if sum, ok := sum(string(value), d.By); ok && named(r.From, d.Of) {
				body[key] = json.RawMessage(sum)
			}
		case Report:
			if _, ok := sum(string(value), "0"); ok && named(r.From, d.Of) {
				body[key] = json.RawMessage(d.As)
			}
		default: // it is not about numbers
		}
	}
	r.Body = mustJSON(body)
	return r
}

// sum adds two decimals and keeps the longer fraction: "51.80" and "10" give
// "61.80".
func sum(a, b string) (string, bool) {
	x, okX := new(big.Rat).SetString(a)
	y, okY := new(big.Rat).SetString(b)
	if !okX || !okY || strings.ContainsAny(a+b, "eE/") {
		return "", false
	}
	return x.Add(x, y).FloatString(max(decimals(a), decimals(b))), true
}

func decimals(s string) int {
	_, fraction, _ := strings.Cut(s, ".")
	return len(fraction)
}

// match finds the last request of k in text: where it begins, the line that it
// stands in, and its values.
func (k Skill) match(text string) (start int, line string, values map[string]string, ok bool) {
	if k.Pattern == nil {
		return 0, "", nil, false
	}
	all := k.Pattern.FindAllStringSubmatchIndex(text, -1)
	if len(all) == 0 {
		return 0, "", nil, false
	}
	at := all[len(all)-1]
	values = map[string]string{}
	for i, name := range k.Pattern.SubexpNames() {
		if name != "" && at[2*i] >= 0 {
			values[name] = strings.TrimSpace(text[at[2*i]:at[2*i+1]])
		}
	}
	start = strings.LastIndexByte(text[:at[0]], '\n') + 1
	end := len(text)
	if n := strings.IndexByte(text[at[1]:], '\n'); n >= 0 {
		end = at[1] + n
	}
	return start, strings.TrimSpace(heading.ReplaceAllString(text[start:end], "")), values, true
}

// heading is what may stand before a request in its line: "Request: ".
var heading = regexp.MustCompile(`^\s*[A-Z][a-z]+: `)
