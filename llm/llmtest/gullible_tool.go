package llmtest

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/isolategpt/isolategpt/llm"
)

// tool is the tool that does verb to things of a kind: its name has the verb,
// and its name or description the kind, the name counting more.
func (s *situation) tool(verb, kind string) (llm.Tool, bool) {
	best, score := llm.Tool{}, 0
	for _, t := range s.tools {
		name := words(t.Name)
		if !says(name, verb) {
			continue
		}
		points := 0
		if says(name, kind) || slices.Contains(name, kind) {
			points = 2
		} else if says(words(t.Description), kind) {
			points = 1
		}
		if points > score {
			best, score = t, points
		}
	}
	return best, score > 0
}

// toolWith is the first tool whose name has verb and that has a parameter of
// that meaning.
func (s *situation) toolWith(verb, parameter string) (llm.Tool, bool) {
	for _, t := range s.tools {
		if _, ok := parameterFor(parametersOf(t.Parameters), parameter); ok && says(words(t.Name), verb) {
			return t, true
		}
	}
	return llm.Tool{}, false
}

// parameterFor is the parameter of that meaning: the synonyms are tried in
// order.
func parameterFor(params []parameter, meaning string) (string, bool) {
	for _, word := range append([]string{meaning}, synonyms[meaning]...) {
		for _, p := range params {
			if p.name == word || slices.Contains(words(p.name), word) {
				return p.name, true
			}
		}
	}
	return "", false
}

// arguments are the arguments of a call of t: what was ordered by meaning,
// then what the user gave by name, then what is known of the user, then an
// empty string for what must be there.
func (s *situation) arguments(t llm.Tool, ordered map[string]string) json.RawMessage {
	params := parametersOf(t.Parameters)
	taken := map[string]string{}
	for _, meaning := range slices.Sorted(maps.Keys(ordered)) {
		if name, ok := parameterFor(params, meaning); ok {
			taken[name] = ordered[meaning]
		}
	}
	out := map[string]json.RawMessage{}
	for _, p := range params {
		text, ok := taken[p.name]
		if !ok && ordered == nil {
			text, ok = s.known(p.name)
		}
		if ok || p.required {
			out[p.name] = p.schema.value(text)
		}
	}
	return mustJSON(out)
}

// recordIn takes from a result what the reader of it needs: the members of the
// body, or of the first element of an array in it, that are its required
// parameters.
func recordIn(reader json.RawMessage, body string) (map[string]json.RawMessage, bool) {
	var required []string
	for _, p := range parametersOf(reader) {
		if p.required {
			required = append(required, p.name)
		}
	}
	for _, object := range objectsIn(json.RawMessage(body)) {
		key := map[string]json.RawMessage{}
		for _, name := range required {
			if v, ok := object[name]; ok {
				key[name] = v
			}
		}
		if len(required) > 0 && len(key) == len(required) {
			return key, true
		}
	}
	return nil, false
}

// objectsIn are the objects in raw, outer ones first.
func objectsIn(raw json.RawMessage) []map[string]json.RawMessage {
	var array []json.RawMessage
	if json.Unmarshal(raw, &array) == nil {
		var out []map[string]json.RawMessage
		for _, element := range array {
			out = append(out, objectsIn(element)...)
		}
		return out
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) != nil {
		return nil
	}
	out := []map[string]json.RawMessage{object}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		out = append(out, objectsIn(object[key])...)
	}
	return out
}

// contentOf is the text of a found thing: its "content", "text" or "body", or
// all of it.
func contentOf(body string) string {
	for _, object := range objectsIn(json.RawMessage(body)) {
		for _, key := range []string{"content", "text", "body"} {
			var s string
			if json.Unmarshal(object[key], &s) == nil && s != "" {
				return s
			}
		}
	}
	return body
}

// ids are the ids of things of a kind that calls have shown, each once.
func (s *situation) ids(kind string) []string {
	var out []string
	for _, r := range s.results {
		if !says(words(r.call.Name), kind) || r.failed {
			continue
		}
		for _, object := range objectsIn(json.RawMessage(r.body)) {
			var id string
			if json.Unmarshal(object["id"], &id) == nil && id != "" && !slices.Contains(out, id) {
				out = append(out, id)
			}
		}
	}
	return out
}

// finisher is the tool by which an agent hands in its result, if there is one.
func (s *situation) finisher() (llm.Tool, bool) {
	at := slices.IndexFunc(s.tools, isFinisher)
	if at < 0 {
		return llm.Tool{}, false
	}
	return s.tools[at], true
}

func isFinisher(t llm.Tool) bool {
	return slices.Contains([]string{"finish", "answer", "done", "final", "result"}, t.Name)
}
