package spoke

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/llm"
)

// action is what a model without tool calls of its own asks for:
// {"action": NAME, "arguments": {…}}.
type action struct {
	name      string
	arguments json.RawMessage
}

// reason says what was wrong with a model's reply.
type reason uint8

const (
	_ reason = iota
	noJSON
	noAction
	unknownAction
	repeated
	answerMisfit
)

// actionError is a reply that cannot be used. It holds nothing of the reply.
type actionError struct{ reason reason }

func (e *actionError) Error() string {
	switch e.reason {
	case noJSON:
		return "the reply was not one JSON object"
	case noAction:
		return `the reply had no "action" and "arguments"`
	case unknownAction:
		return "there is no functionality of that name"
	case repeated:
		return "exactly this was done just now; use what it gave, do something else, or finish"
	default:
		return "the answer does not have the form that was asked for"
	}
}

// ask is what the model is told.
func (e *actionError) ask() string {
	return "Your last reply could not be used: " + e.Error() + ". Reply again, with exactly one JSON value of the form that was asked for, and nothing else."
}

// readAction reads an action. Models that were trained to write tool calls say
// "name" for "action"; that is understood.
func readAction(text string) (action, *actionError) {
	raw, err := llm.Extract(text)
	if err != nil {
		return action{}, &actionError{noJSON}
	}
	canonical, err := isc.Canonical(raw)
	if err != nil {
		return action{}, &actionError{noJSON}
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(canonical, &members) != nil {
		return action{}, &actionError{noJSON}
	}
	var a action
	for _, key := range []string{"action", "name"} {
		if json.Unmarshal(members[key], &a.name) == nil && a.name != "" {
			break
		}
	}
	a.arguments = members["arguments"]
	if a.name == "" || len(a.arguments) == 0 {
		return action{}, &actionError{noAction}
	}
	return a, nil
}

// maxNeeds bounds the fields of one need of data.
const maxNeeds = 16

func readNeed(arguments json.RawMessage) ([]isc.DataField, error) {
	var need struct {
		Fields []isc.DataField `json:"fields"`
	}
	if err := isc.Unmarshal(arguments, &need); err != nil {
		return nil, errors.New(`the arguments must be {"fields": [{"name": …, "purpose": …}]}`)
	}
	if len(need.Fields) == 0 || len(need.Fields) > maxNeeds {
		return nil, errors.New("ask for 1 to 16 fields")
	}
	return need.Fields, nil
}

// success is a result as a model is told it: the body, or an object around it
// where the body is no object or list, so that it differs from a failure.
func success(body json.RawMessage) string {
	if len(body) > 0 && (body[0] == '{' || body[0] == '[') {
		return string(body)
	}
	return `{"result":` + string(body) + `}`
}

func failure(text string) string {
	b, err := json.Marshal(map[string]string{"error": text})
	if err != nil {
		return `{"error":"failed"}`
	}
	return string(b)
}

// maxErrorText bounds what a model is told of its app's own error, in bytes.
const maxErrorText = 300

// told is an error in words for the app's own model. Refusals are all the same
// word; the text of the app's own errors is the app's own.
func told(err error) string {
	switch {
	case errors.Is(err, ErrRefused):
		return "refused"
	case errors.Is(err, ErrMissing):
		return "not given"
	}
	text := strings.TrimPrefix(err.Error(), "spoke: ")
	return strings.ToValidUTF8(text[:min(len(text), maxErrorText)], "?")
}
