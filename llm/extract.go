package llm

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Extract takes the one JSON value out of a model's reply. It accepts a reply
// that is nothing but one value, a value in one code fence, and one fenced
// object or array with prose around it in which no other value could stand (no
// bracket, brace or backtick). Everything else is an error: several values,
// several fences, a value in mere prose. What comes out is untrusted.
func Extract(text string) (json.RawMessage, error) {
	if !utf8.ValidString(text) {
		return nil, errors.New("llm: extract: the reply is not UTF-8")
	}
	text = strings.TrimSpace(text)
	if text == "" {
		return nil, errors.New("llm: extract: the reply is empty")
	}
	if json.Valid([]byte(text)) {
		return json.RawMessage(text), nil
	}
	return extractFenced(text)
}

func extractFenced(text string) (json.RawMessage, error) {
	before, rest, ok := strings.Cut(text, "```")
	if !ok {
		return nil, errors.New("llm: extract: the reply is not one JSON value")
	}
	// A fence ends at a line of its own: a value may hold backticks in a string.
	body, after, ok := cutFenceEnd(rest)
	if !ok {
		return nil, errors.New("llm: extract: the reply opens a code fence and does not close it")
	}
	body = strings.TrimSpace(dropInfo(body))
	if !json.Valid([]byte(body)) {
		return nil, errors.New("llm: extract: the code fence does not hold one JSON value")
	}
	prose := before + after
	if strings.TrimSpace(prose) == "" {
		return json.RawMessage(body), nil
	}
	if strings.ContainsAny(prose, "{}[]`") || (body[0] != '{' && body[0] != '[') {
		return nil, fmt.Errorf("llm: extract: the reply has %d bytes around its code fence, and which value is meant is not clear", len(prose))
	}
	return json.RawMessage(body), nil
}

// cutFenceEnd cuts s around the last fence; there may be no second fence after
// the first that closes, which the test of the prose sees to.
func cutFenceEnd(s string) (body, after string, ok bool) {
	i := strings.Index(s, "\n```")
	if i < 0 {
		return strings.Cut(s, "```") // all in one line
	}
	return s[:i], s[i+len("\n```"):], true
}

// dropInfo drops the language that an opening fence names.
func dropInfo(body string) string {
	for _, info := range []string{"json", "JSON", "jsonc", "json5"} {
		if rest, ok := strings.CutPrefix(body, info); ok && (rest == "" || strings.ContainsRune(" \t\r\n{[\"", rune(rest[0]))) {
			return rest
		}
	}
	return body
}
