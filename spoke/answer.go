package spoke

import (
	"encoding/json"
	"strings"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/llm"
)

// answerSchema asks for {"answer": …}: some models take only an object at the
// root.
func answerSchema(f *isc.Format) json.RawMessage {
	return objectSchema("answer", embeddable(f))
}

// embeddable is the schema of f to stand inside another. References count from
// a schema's root, so one that has them is described by nothing; whatever comes
// back is checked against f itself.
func embeddable(f *isc.Format) json.RawMessage {
	schema := f.Schema()
	if strings.Contains(string(schema), `"$ref"`) {
		return json.RawMessage(`{}`)
	}
	return schema
}

func objectSchema(name string, of json.RawMessage) json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{"` + name + `":` + string(of) +
		`},"required":["` + name + `"],"additionalProperties":false}`)
}

// fit is the canonical form of raw if it fits f as it stands, or inside
// {"answer": …}.
func fit(f *isc.Format, raw json.RawMessage) (json.RawMessage, bool) {
	canonical, err := isc.Canonical(raw)
	if err != nil {
		return nil, false
	}
	if inner, ok := unwrap(canonical); ok {
		if body, err := f.Check(inner); err == nil {
			return body, true
		}
	}
	body, err := f.Check(canonical)
	return body, err == nil
}

// unwrap takes the value out of an object that holds an answer and nothing else.
func unwrap(canonical json.RawMessage) (json.RawMessage, bool) {
	var members map[string]json.RawMessage
	if len(canonical) == 0 || canonical[0] != '{' || json.Unmarshal(canonical, &members) != nil || len(members) != 1 {
		return nil, false
	}
	inner, ok := members["answer"]
	return inner, ok
}

// fitText finds the answer in a reply: its one JSON value, or, where the format
// wants a text, the reply's words.
func fitText(f *isc.Format, text string) (json.RawMessage, bool) {
	if raw, err := llm.Extract(text); err == nil {
		if body, ok := fit(f, raw); ok {
			return body, true
		}
	}
	return fitWords(f, text)
}

// fitWords wraps plain words as a string or as {"text": string}.
func fitWords(f *isc.Format, text string) (json.RawMessage, bool) {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil, false
	}
	quoted, err := json.Marshal(text)
	if err != nil {
		return nil, false
	}
	for _, raw := range []string{string(quoted), `{"text":` + string(quoted) + `}`} {
		if body, err := f.Check([]byte(raw)); err == nil {
			return body, true
		}
	}
	return nil, false
}

// fitArguments finds the answer in the arguments of a finish. Small models
// write an object as a string, or forget to wrap it.
func fitArguments(f *isc.Format, arguments json.RawMessage) (json.RawMessage, bool) {
	if body, ok := fit(f, arguments); ok {
		return body, true
	}
	canonical, err := isc.Canonical(arguments)
	if err != nil {
		return nil, false
	}
	inner, ok := unwrap(canonical)
	if !ok {
		return nil, false
	}
	var words string
	if json.Unmarshal(inner, &words) != nil {
		return nil, false
	}
	return fitText(f, words)
}
