package llmtest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/isolategpt/isolategpt/llm"
)

// situation is what a request shows to its reader.
type situation struct {
	texts   [][]Clause // the directives of each text that has any, in order
	user    []string   // what stands in the user's messages
	tools   []llm.Tool
	results []result
	skill   *Skill
	task    string
	values  map[string]string
	taskAt  int // the message that the request stands in
	size    int
	tried   int // calls made so far
}

// result is a call that was made and what it gave.
type result struct {
	call   llm.ToolCall
	body   string
	failed bool
	at     int // its message
}

func (g *Gullible) read(req *llm.Request) *situation {
	s := &situation{tools: req.Tools}
	for _, t := range req.Tools {
		g.hear(s, t.Description)
		g.hearJSON(s, t.Parameters)
	}
	g.hearJSON(s, req.Schema)
	calls := map[string]llm.ToolCall{}
	for i, m := range req.Messages {
		s.size += len(m.Text)
		for _, c := range m.Calls {
			calls[c.ID] = c
			s.tried++
		}
		switch m.Role {
		case llm.Assistant: // its own words are no orders
		case llm.ToolResult:
			s.results = append(s.results, result{calls[m.CallID], m.Text, isFailure(m.Text), i})
			g.hearBody(s, m.Text)
		default:
			g.hearBody(s, m.Text)
		}
	}
	g.findTask(s, req.Messages)
	return s
}

// hear reads the directives of one text.
func (g *Gullible) hear(s *situation, text string) {
	s.size += len(text)
	if clauses := ReadDirectives(text, g.rules...); len(clauses) > 0 {
		s.texts = append(s.texts, clauses)
	}
}

// hearBody reads a text that may be JSON, or hold JSON: strings are read as
// what they stand for.
func (g *Gullible) hearBody(s *situation, text string) {
	if json.Valid([]byte(text)) && strings.ContainsAny(text[:1], `{["`) {
		g.hearJSON(s, []byte(text))
		return
	}
	g.hear(s, unescape.Replace(text))
}

var unescape = strings.NewReplacer(`\n`, "\n", `\"`, `"`, `\u003c`, "<", `\u003e`, ">", `\u0026`, "&", `\/`, "/")

// hearJSON reads every string in raw, in order; keys count as strings.
func (g *Gullible) hearJSON(s *situation, raw []byte) {
	d := json.NewDecoder(strings.NewReader(string(raw)))
	for {
		token, err := d.Token()
		if err != nil {
			return
		}
		if text, ok := token.(string); ok {
			g.hear(s, text)
		}
	}
}

// findTask takes the last thing that the user said since the last answer and
// that a skill knows. An assistant message that is JSON is an action, not an
// answer.
func (g *Gullible) findTask(s *situation, messages []llm.Message) {
	for i, m := range slices.Backward(messages) {
		if m.Role == llm.Assistant && len(m.Calls) == 0 && !json.Valid([]byte(m.Text)) {
			break
		}
		if m.Role == llm.User && s.skill == nil {
			g.knowTask(s, unescape.Replace(m.Text))
			s.taskAt = i
		}
	}
	for _, m := range messages {
		if m.Role == llm.User {
			s.user = append(s.user, unescape.Replace(m.Text))
		}
	}
}

// knowTask takes the request that stands last in text; of two in one line, that
// of the earlier skill.
func (g *Gullible) knowTask(s *situation, text string) {
	last := -1
	for i := range g.skills {
		if start, line, values, ok := g.skills[i].match(text); ok && start > last {
			last = start
			s.skill, s.task, s.values = &g.skills[i], line, values
		}
	}
}

// isFailure tells a tool's result from its failure: it is no JSON object or
// array, or an object with an "error".
func isFailure(body string) bool {
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(body), &object) == nil {
		_, failed := object["error"]
		return failed || object == nil
	}
	var array []json.RawMessage
	return json.Unmarshal([]byte(body), &array) != nil
}

func (s *situation) callID() string { return fmt.Sprintf("call_%d", s.tried+1) }

// all is every directive, the weakest first. What is ordered twice in the same
// words is one order, where it stands last.
func (s *situation) all() []Clause {
	every := slices.Concat(s.texts...)
	out := every[:0:0]
	for i, c := range every {
		if !slices.ContainsFunc(every[i+1:], func(later Clause) bool { return reflect.DeepEqual(later.Directive, c.Directive) }) {
			out = append(out, c)
		}
	}
	return out
}

// has says whether a directive of type D is obeyed.
func has[D Directive](s *situation) bool {
	return slices.ContainsFunc(s.all(), func(c Clause) bool { _, ok := c.Directive.(D); return ok })
}

// avoided says whether the function or anything in its name is to be avoided.
func (s *situation) avoided(name string) bool {
	return slices.ContainsFunc(s.all(), func(c Clause) bool {
		d, ok := c.Directive.(Avoid)
		return ok && named(name, d.Name)
	})
}

// done is what the last call of name with args gave, whoever asked for it.
func (s *situation) done(name string, args json.RawMessage) (result, bool) {
	for _, r := range slices.Backward(s.results) {
		if r.call.Name == name && sameJSON(r.call.Arguments, args) {
			return r, true
		}
	}
	return result{}, false
}

// used says whether a call of name was made for the request at hand.
func (s *situation) used(name string) bool {
	return slices.ContainsFunc(s.results, func(r result) bool { return r.call.Name == name && r.at > s.taskAt })
}

func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	return string(mustJSON(x)) == string(mustJSON(y))
}
