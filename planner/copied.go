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
	return c.plan(p), c.problems
}

// clone is a deep copy of a plan that was copied before.
func (p *Plan) clone() *Plan { return (&copier{trusted: true}).plan(p) }

// maxNodes bounds the values, guards and shapes of one plan: more than a plan
// of [MaxPlan] bytes can hold.
const maxNodes = 1 << 15

type copier struct {
	trusted  bool // every literal is a scalar in canonical form
	step     string
	nodes    int
	problems []Problem
}

func (c *copier) plan(p *Plan) *Plan {
	out := &Plan{Replan: min(max(p.Replan, 0), MaxReplan)}
	if len(p.Steps) > 0 {
		out.Steps = make([]Step, len(p.Steps))
	}
	for i, s := range p.Steps {
		out.Steps[i] = c.oneStep(s)
	}
	c.step = ""
	if p.Answer != nil {
		out.Answer = c.value(p.Answer, root("/answer"), 0)
	}
	return out
}

func (c *copier) oneStep(s Step) Step {
	c.step = short(s.ID)
	n := Step{ID: s.ID, Do: c.action(s.Do)}
	if s.When != nil {
		n.When = c.guard(s.When, root("/when"), 0)
	}
	return n
}

func (c *copier) fail(at path, code Code, text string) {
	c.problems = append(c.problems, Problem{c.step, at.String(), code, text})
}

func (c *copier) tooDeep(at path, depth, parts int) bool {
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

func (c *copier) text(s string, at path) {
	if len(s) > MaxText {
		c.fail(at, CodeTooLarge, fmt.Sprintf("over %d bytes", MaxText))
	}
}

func (c *copier) action(a Action) Action {
	switch a := a.(type) {
	case Call:
		a.Args = c.members(a.Args, root("/args"), 0)
		if a.Args == nil {
			a.Args = map[string]Value{}
		}
		a.Each = clonePointer(a.Each)
		a.AtMost = c.bound(a.AtMost)
		return a
	case Delegate:
		c.text(a.Task, root("/task"))
		a.Inputs = c.values(a.Inputs, root("/inputs"), 0)
		a.May = slices.Clone(a.May)
		if len(a.May) > MaxParts {
			c.fail(root("/may"), CodeTooLarge, fmt.Sprintf("over %d elements", MaxParts))
		}
		a.AtMost = c.bound(a.AtMost)
		return a
	case Decide:
		c.text(a.Question, root("/question"))
		a.Inputs = c.values(a.Inputs, root("/inputs"), 0)
		a.Answer = c.shape(a.Answer, root("/format"), 0)
		return a
	case Where:
		if a.Value != nil {
			a.Value = c.value(a.Value, root("/value"), 0)
		}
		return a
	case Ask:
		if a.Question != nil {
			a.Question = c.value(a.Question, root("/question"), 0)
		}
		a.Answer = c.shape(a.Answer, root("/format"), 0)
		return a
	default:
		return a // Best holds nothing that is shared; nil is found later
	}
}

func (c *copier) bound(n int) int {
	if n < 0 || n > MaxAtMost {
		c.fail(root("/at_most"), CodeTooLarge, fmt.Sprintf("not from 0 to %d", MaxAtMost))
	}
	return n
}

func (c *copier) value(v Value, at path, depth int) Value {
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
		return Template{Parts: c.values(v.Parts, at.to("/template"), depth+1)}
	case Object:
		return Object{Fields: c.members(v.Fields, at.to("/object"), depth+1)}
	case Array:
		return append(Array{}, c.values(v, at, depth+1)...)
	default:
		c.fail(at, CodeMalformed, "there is no value")
		return nil
	}
}

func (c *copier) literal(l Literal, at path, depth int) Value {
	if c.trusted {
		return Literal{JSON: slices.Clone(l.JSON)}
	}
	raw, err := isc.Canonical(l.JSON)
	if err != nil {
		c.fail(at, CodeMalformed, "a literal that is no strict JSON")
		return nil
	}
	if raw[0] != '[' && raw[0] != '{' {
		return Literal{JSON: raw}
	}
	v := parts(Literal{JSON: raw})
	if _, scalar := v.(Literal); scalar || v == nil {
		return Literal{JSON: raw}
	}
	return c.value(v, at, depth)
}

func (c *copier) values(vs []Value, at path, depth int) []Value {
	if c.tooDeep(at, depth, len(vs)) {
		return nil
	}
	if vs == nil && c.trusted {
		return nil
	}
	out := make([]Value, len(vs))
	for i, v := range vs {
		out[i] = c.value(v, at.item("", i), depth)
	}
	return out
}

func (c *copier) members(vs map[string]Value, at path, depth int) map[string]Value {
	if c.tooDeep(at, depth, len(vs)) {
		return nil
	}
	out := make(map[string]Value, len(vs))
	if c.trusted { // no problem can come, so no order is needed
		for name, v := range vs {
			out[name] = c.value(v, at.member("", name), depth+1)
		}
		return out
	}
	for _, name := range sortedKeys(vs) {
		out[name] = c.value(vs[name], at.member("", name), depth+1)
	}
	return out
}

func (c *copier) guard(g Guard, at path, depth int) Guard {
	if c.tooDeep(at, depth, 0) {
		return nil
	}
	switch g := g.(type) {
	case Compare:
		return Compare{Op: g.Op, A: c.value(g.A, at.to("/a"), depth+1), B: c.value(g.B, at.to("/b"), depth+1)}
	case And:
		return And{Of: c.guards(g.Of, at, depth+1)}
	case Or:
		return Or{Of: c.guards(g.Of, at, depth+1)}
	case Not:
		return Not{Of: c.guard(g.Of, at.item("/of", 0), depth+1)}
	default:
		return g // Present holds nothing that is shared
	}
}

func (c *copier) guards(gs []Guard, at path, depth int) []Guard {
	if c.tooDeep(at, depth, len(gs)) {
		return nil
	}
	out := make([]Guard, len(gs))
	for i, g := range gs {
		out[i] = c.guard(g, at.item("/of", i), depth)
	}
	return out
}

func (c *copier) shape(s Shape, at path, depth int) Shape {
	if c.tooDeep(at, depth, len(s.Fields)) {
		return Shape{}
	}
	s.Enum, s.Pick = slices.Clone(s.Enum), clonePointer(s.Pick)
	if s.MaxItems > MaxItems {
		c.fail(at.to("/max_items"), CodeTooLarge, fmt.Sprintf("over %d", MaxItems))
	}
	if s.Items != nil {
		item := c.shape(*s.Items, at.to("/items"), depth+1)
		s.Items = &item
	}
	if s.Fields != nil {
		fields := make(map[string]Shape, len(s.Fields))
		for _, name := range sortedKeys(s.Fields) {
			fields[name] = c.shape(s.Fields[name], at.member("/fields", name), depth+1)
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
