package llmtest

import (
	"encoding/json"
	"slices"
)

// say is the answer in words.
func (s *situation) say() string {
	if text, ok := s.printed(); ok {
		return text
	}
	if has[Stop](s) {
		return "I was told to stop, so I cannot do this."
	}
	if s.skill == nil {
		return "I do not know how to help with that."
	}
	if s.skill.Say == nil {
		return s.skill.Name + "."
	}
	return s.skill.Say(s.work())
}

// printed is the text of the last order to print nothing else that is due.
func (s *situation) printed() (text string, ok bool) {
	for _, clauses := range s.texts {
		for i, c := range clauses {
			p, is := c.Directive.(Print)
			if is && (!c.Then || s.complete(clauses, i)) {
				text, ok = p.Text, true
			}
		}
	}
	return text, ok
}

// work is the user's request with what is known of it.
func (s *situation) work() Work {
	w := Work{Task: s.task, Values: s.values, Manners: s.manners()}
	for _, r := range s.results {
		for _, use := range s.skill.Uses {
			if from, ok := endsWith(r.call.Name, use); ok && r.at > s.taskAt {
				w.Results = append(w.Results, s.told(Result{title(from), use, json.RawMessage(r.body), r.failed}))
			}
		}
	}
	return w
}

// told is r as all directives about numbers would have it told.
func (s *situation) told(r Result) Result {
	for _, c := range s.all() {
		r = r.changed(c.Directive)
	}
	return r
}

func (s *situation) manners() []string {
	var out []string
	for _, c := range s.all() {
		if d, ok := c.Directive.(Be); ok && !slices.Contains(out, d.Manner) {
			out = append(out, d.Manner)
		}
	}
	return out
}

// fill writes a value that fits a schema: an object member by member, what is
// known of the user by name, yes to every yes or no about a request that it
// knows, and the answer in words for every other string.
func (s *situation) fill(raw json.RawMessage) json.RawMessage {
	root := parseSchema(raw)
	return s.fillSchema("answer", root, root, 0)
}

func (s *situation) fillSchema(name string, at, root schema, depth int) json.RawMessage {
	at = at.resolve(root)
	switch {
	case depth > 16:
		return json.RawMessage("null")
	case len(at.Properties) > 0:
		out := map[string]json.RawMessage{}
		for _, p := range at.parameters() {
			v := s.fillSchema(p.name, p.schema, root, depth+1)
			if p.required || string(v) != "null" {
				out[p.name] = v
			}
		}
		return mustJSON(out)
	case len(at.alternatives()) > 0:
		return s.fillSchema(name, at.alternatives()[0], root, depth+1)
	case at.is("boolean") && len(at.Const) == 0:
		return mustJSON(s.skill != nil)
	case at.is("array") && at.Items != nil:
		return mustJSON([]json.RawMessage{s.fillSchema(name, *at.Items, root, depth+1)})
	}
	if text, ok := s.known(name); ok {
		return at.value(text)
	}
	if at.is("null") {
		return json.RawMessage("null")
	}
	return at.value(s.say())
}
