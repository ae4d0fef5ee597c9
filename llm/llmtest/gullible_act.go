package llmtest

import (
	"encoding/json"
	"slices"

	"github.com/isolategpt/isolategpt/llm"
)

// next is the next call, if one is left: what texts ordered comes before what
// the user asked, and the last text before the others.
func (s *situation) next() (llm.ToolCall, bool) {
	for _, clauses := range slices.Backward(s.texts) {
		if call, ok := s.obey(clauses); ok {
			return call, true
		}
	}
	if has[Stop](s) || s.skill == nil {
		return llm.ToolCall{}, false
	}
	for _, use := range s.skill.Uses {
		for _, t := range s.offered(use) {
			if !s.used(t.Name) {
				return llm.ToolCall{ID: s.callID(), Name: t.Name, Arguments: s.arguments(t, nil)}, true
			}
		}
	}
	return llm.ToolCall{}, false
}

// offered are the tools that serve use and that no text forbade.
func (s *situation) offered(use string) []llm.Tool {
	var out []llm.Tool
	for _, t := range s.tools {
		if _, ok := endsWith(t.Name, use); ok && !s.avoided(t.Name) {
			out = append(out, t)
		}
	}
	return out
}

// obey is the next call that the clauses of one text ask for. A clause that
// cannot be done, or whose call failed, is left behind, and with it those that
// wait for everything before them.
func (s *situation) obey(clauses []Clause) (llm.ToolCall, bool) {
	o := order{s: s, whole: true}
	for _, c := range clauses {
		if c.Then && !o.whole {
			continue
		}
		if call, ok := o.step(c.Directive); ok {
			call.ID = s.callID()
			return call, true
		}
	}
	return llm.ToolCall{}, false
}

// complete says whether everything before the i-th clause was done.
func (s *situation) complete(clauses []Clause, i int) bool {
	o := order{s: s, whole: true}
	for _, c := range clauses[:i] {
		if c.Then && !o.whole {
			return false
		}
		if _, pending := o.step(c.Directive); pending {
			return false
		}
	}
	return o.whole
}

// order carries out the clauses of one text.
type order struct {
	s     *situation
	whole bool   // nothing failed so far
	it    string // what was found or fetched last
}

// step is the call that d needs now, if any is left.
func (o *order) step(d Directive) (llm.ToolCall, bool) {
	switch d := d.(type) {
	case Find:
		return o.find(d)
	case Send:
		return o.send(d)
	case Delete:
		return o.delete(d)
	case Also:
		return o.also(d)
	default: // it changes what is said or left out, and calls nothing
		return llm.ToolCall{}, false
	}
}

// try makes a call once, and says what it gave.
func (o *order) try(t llm.Tool, args json.RawMessage) (body string, call llm.ToolCall, pending bool) {
	r, done := o.s.done(t.Name, args)
	if !done {
		return "", llm.ToolCall{Name: t.Name, Arguments: args}, true
	}
	if r.failed {
		o.whole = false
		return "", llm.ToolCall{}, false
	}
	return r.body, llm.ToolCall{}, false
}

func (o *order) find(d Find) (llm.ToolCall, bool) {
	finder, ok := o.s.tool("find", kindOf(d.What))
	if !ok {
		o.whole = false
		return llm.ToolCall{}, false
	}
	body, call, pending := o.try(finder, o.s.arguments(finder, map[string]string{"query": d.Query}))
	if pending {
		return call, true
	}
	o.it = body
	reader, ok := o.s.tool("read", kindOf(d.What))
	key, found := recordIn(reader.Parameters, body)
	if !ok || !found || body == "" {
		return llm.ToolCall{}, false
	}
	body, call, pending = o.try(reader, mustJSON(key))
	if body != "" {
		o.it = body
	}
	return call, pending
}

func (o *order) send(d Send) (llm.ToolCall, bool) {
	sender, ok := o.s.toolWith("send", "to")
	if !ok || o.it == "" {
		o.whole = false
		return llm.ToolCall{}, false
	}
	args := o.s.arguments(sender, map[string]string{"to": d.To, "body": contentOf(o.it)})
	_, call, pending := o.try(sender, args)
	return call, pending
}

// delete goes through every id that a result or an argument of the same app
// has shown so far.
func (o *order) delete(d Delete) (llm.ToolCall, bool) {
	deleter, ok := o.s.tool("delete", kindOf(d.What))
	ids := o.s.ids(kindOf(d.What))
	if !ok || len(ids) == 0 {
		o.whole = false
		return llm.ToolCall{}, false
	}
	for _, id := range ids {
		if _, call, pending := o.try(deleter, o.s.arguments(deleter, map[string]string{"id": id})); pending {
			return call, true
		}
	}
	return llm.ToolCall{}, false
}

func (o *order) also(d Also) (llm.ToolCall, bool) {
	at := slices.IndexFunc(o.s.tools, func(t llm.Tool) bool { return named(t.Name, d.Name) && !isFinisher(t) })
	if at < 0 {
		o.whole = false
		return llm.ToolCall{}, false
	}
	args := d.Args
	if args == nil {
		args = o.s.arguments(o.s.tools[at], nil)
	}
	body, call, pending := o.try(o.s.tools[at], args)
	if body != "" {
		o.it = body
	}
	return call, pending
}
