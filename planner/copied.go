package planner

import (
	"fmt"
	"slices"

	"github.com/isolategpt/isolategpt/isc"
)

// copied is a deep copy in the form that decoding gives: literals canonical,
// and a literal array or object taken apart. A plan made in Go thereby has the
// same limits as one that was decoded.
func (p *Plan) copied() (*Plan, []Problem) {
	c := &copier{}
	out := &Plan{Replan: min(max(p.Replan, 0), MaxReplan)}
	for _, s := range p.Steps {
		c.step = short(s.ID)
		n := Step{ID: s.ID, Do: c.action(s.Do)}
		if s.When != nil {
			n.When = c.guard(s.When, "/when", 0)
		}
		out.Steps = append(out.Steps, n)
	}
	c.step = ""
	if p.Answer != nil {
		out.Answer = c.value(p.Answer, "/answer", 0)
	}
	return out, c.problems
}

// maxNodes bounds the values, guards and shapes of one plan: more than a plan
// of [MaxPlan] bytes can hold.
const maxNodes = 1 << 15

type copier struct {
	step     string
	nodes    int
	problems []Problem
}

func (c *copier) fail(at string, code Code, text string) {
	c.problems = append(c.problems, Problem{c.step, at, code, text})
}

func (c *copier) tooDeep(at string, depth, parts int) bool {
	if c.nodes++; c.nodes > maxNodes {
		if c.nodes == maxNodes+1 {
			c.fail(at, CodeTooLarge, fmt.Sprintf("over %d values in all", maxNodes))
		}
		return true
	}
	if depth > MaxDepth {
		c.fail(at, CodeTooLarge, fmt.Sprintf("nested more than %d deep", MaxDepth))
		return true
	}
	if parts > MaxParts {
		c.fail(at, CodeTooLarge, fmt.Sprintf("over %d elements", MaxParts))
		return true
	}
	return false
}

func (c *copier) text(s, at string) string {
	if len(s) > MaxText {
		c.fail(at, CodeTooLarge, fmt.Sprintf("over %d bytes", MaxText))
	}
	return s
}

func (c *copier) action(a Action) Action {
	switch a := a.(type) {
	case Call:
		a.Args = c.members(a.Args, "/args", 0)
		if a.Args == nil {
			a.Args = map[string]Value{}
		}
		a.Each = clonePointer(a.Each)
		a.AtMost = c.bound(a.AtMost)
		return a
	case Delegate:
		c.text(a.Task, "/task")
		a.Inputs = c.values(a.Inputs, "/inputs", 0)
		a.May = slices.Clone(a.May)
		if len(a.May) > MaxParts {
			c.fail("/may", CodeTooLarge, fmt.Sprintf("over %d elements", MaxParts))
		}
		a.AtMost = c.bound(a.AtMost)
		return a
	case Decide:
		c.text(a.Question, "/question")
		a.Inputs = c.values(a.Inputs, "/inputs", 0)
		a.Answer = c.shape(a.Answer, "/format", 0)
		return a
	case Where:
		if a.Value != nil {
			a.Value = c.value(a.Value, "/value", 0)
		}
		return a
	case Ask:
		if a.Question != nil {
			a.Question = c.value(a.Question, "/question", 0)
		}
		a.Answer = c.shape(a.Answer, "/format", 0)
		return a
	}
	return a // Best holds nothing that is shared; nil is found later
}

func (c *copier) bound(n int) int {
	if n < 0 || n > MaxAtMost {
		c.fail("/at_most", CodeTooLarge, fmt.Sprintf("not from 0 to %d", MaxAtMost))
	}
	return n
}

func (c *copier) value(v Value, at string, depth int) Value {
	if c.tooDeep(at, depth, 0) {
		return nil
	}
	if l, ok := v.(Literal); ok {
		return c.literal(l, at, depth)
	}
	switch v := v.(type) {
	case Ref, Memory, Item:
		return v
	case Template:
		return Template{Parts: c.values(v.Parts, at+"/template", depth+1)}
	case Object:
		return Object{Fields: c.members(v.Fields, at+"/object", depth+1)}
	case Array:
		return append(Array{}, c.values(v, at, depth+1)...)
	}
	c.fail(at, CodeMalformed, "there is no value")
	return nil
}

func (c *copier) literal(l Literal, at string, depth int) Value {
	raw, err := isc.Canonical(l.JSON)
	if err != nil {
		c.fail(at, CodeMalformed, "a literal that is no strict JSON")
		return nil
	}
	v := parts(Literal{JSON: raw})
	if _, scalar := v.(Literal); scalar || v == nil {
		return Literal{JSON: raw}
	}
	return c.value(v, at, depth)
}

func (c *copier) values(vs []Value, at string, depth int) []Value {
	if c.tooDeep(at, depth, len(vs)) {
		return nil
	}
	out := make([]Value, len(vs))
	for i, v := range vs {
		out[i] = c.value(v, fmt.Sprintf("%s/%d", at, i), depth)
	}
	return out
}

func (c *copier) members(vs map[string]Value, at string, depth int) map[string]Value {
	if c.tooDeep(at, depth, len(vs)) {
		return nil
	}
	out := make(map[string]Value, len(vs))
	for _, name := range sortedKeys(vs) {
		out[name] = c.value(vs[name], at+"/"+escape(name), depth+1)
	}
	return out
}

func (c *copier) guard(g Guard, at string, depth int) Guard {
	if c.tooDeep(at, depth, 0) {
		return nil
	}
	switch g := g.(type) {
	case Compare:
		return Compare{Op: g.Op, A: c.value(g.A, at+"/a", depth+1), B: c.value(g.B, at+"/b", depth+1)}
	case And:
		return And{Of: c.guards(g.Of, at, depth+1)}
	case Or:
		return Or{Of: c.guards(g.Of, at, depth+1)}
	case Not:
		return Not{Of: c.guard(g.Of, at+"/of/0", depth+1)}
	}
	return g
}

func (c *copier) guards(gs []Guard, at string, depth int) []Guard {
	if c.tooDeep(at, depth, len(gs)) {
		return nil
	}
	out := make([]Guard, len(gs))
	for i, g := range gs {
		out[i] = c.guard(g, fmt.Sprintf("%s/of/%d", at, i), depth)
	}
	return out
}

func (c *copier) shape(s Shape, at string, depth int) Shape {
	if c.tooDeep(at, depth, len(s.Fields)) {
		return Shape{}
	}
	s.Enum, s.Pick = slices.Clone(s.Enum), clonePointer(s.Pick)
	if s.MaxItems > MaxItems {
		c.fail(at+"/max_items", CodeTooLarge, fmt.Sprintf("over %d", MaxItems))
	}
	if s.Items != nil {
		item := c.shape(*s.Items, at+"/items", depth+1)
		s.Items = &item
	}
	if s.Fields != nil {
		fields := make(map[string]Shape, len(s.Fields))
		for _, name := range sortedKeys(s.Fields) {
			fields[name] = c.shape(s.Fields[name], at+"/fields/"+escape(name), depth+1)
		}
		s.Fields = fields
	}
	return s
}

func clonePointer[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}
