package planner

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/isolategpt/isolategpt/isc"
)

// MarshalJSON gives the canonical JSON form, which [DecodePlan] reads back. A
// literal array or object is written as the array or object of its parts, and
// decodes as one.
func (p *Plan) MarshalJSON() ([]byte, error) {
	e := &encoder{b: make([]byte, 0, 256)}
	e.open('{')
	e.key("steps")
	e.open('[')
	for _, s := range p.Steps {
		e.next()
		e.step(s)
	}
	e.close(']')
	e.key("answer")
	e.value(p.Answer)
	e.count("replan", p.Replan)
	e.close('}')
	if e.err != nil {
		return nil, e.err
	}
	return isc.Canonical(e.b)
}

// encoder writes JSON, its members in a fixed order that is not the canonical
// one. What is the zero value, and may be left out, is.
type encoder struct {
	b   []byte
	err error
}

func (e *encoder) fail(format string, args ...any) {
	if e.err == nil {
		e.err = fmt.Errorf("planner: encode plan: "+format, args...)
	}
}

func (e *encoder) open(c byte) { e.b = append(e.b, c) }

func (e *encoder) close(c byte) { e.b = append(e.b, c) }

// next writes the comma before an element or member, unless it is the first.
func (e *encoder) next() {
	if last := e.b[len(e.b)-1]; last != '[' && last != '{' {
		e.b = append(e.b, ',')
	}
}

func (e *encoder) key(name string) {
	e.next()
	e.text(name)
	e.b = append(e.b, ':')
}

func (e *encoder) text(s string) {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			raw, err := json.Marshal(s)
			if err != nil {
				e.fail("%w", err)
			}
			e.b = append(e.b, raw...)
			return
		}
	}
	e.b = append(append(append(e.b, '"'), s...), '"')
}

func (e *encoder) word(name, s string) {
	if s != "" {
		e.key(name)
		e.text(s)
	}
}

func (e *encoder) count(name string, n int) {
	if n != 0 {
		e.key(name)
		e.b = strconv.AppendInt(e.b, int64(n), 10)
	}
}

func (e *encoder) flag(name string, set bool) {
	if set {
		e.key(name)
		e.b = append(e.b, "true"...)
	}
}

func (e *encoder) words(name string, list []string) {
	if len(list) == 0 {
		return
	}
	e.key(name)
	e.open('[')
	for _, s := range list {
		e.next()
		e.text(s)
	}
	e.close(']')
}

func (e *encoder) step(s Step) {
	e.open('{')
	e.key("id")
	e.text(s.ID)
	if s.When != nil {
		e.key("when")
		e.guard(s.When)
	}
	e.key("do")
	switch do := s.Do.(type) {
	case Call:
		e.call(do)
	case Delegate:
		e.text("delegate")
		e.key("task")
		e.text(do.Task)
		e.values("inputs", do.Inputs)
		e.word("app", string(do.App))
		e.count("at_most", do.AtMost)
		e.flag("open_ended", do.OpenEnded)
		e.words("may", do.May)
	case Decide:
		e.text("decide")
		e.key("question")
		e.text(do.Question)
		e.values("inputs", do.Inputs)
		e.key("format")
		e.shape(do.Answer)
		e.word("spoke", do.Spoke)
	case Where:
		e.text("where")
		e.from(do.From, do.Field)
		e.key("op")
		e.text(do.Op.String())
		e.key("value")
		e.value(do.Value)
	case Best:
		e.text("best")
		e.from(do.From, do.Field)
		e.key("most")
		e.text(do.Most.String())
	case Ask:
		e.text("ask")
		e.key("question")
		e.value(do.Question)
		e.key("format")
		e.shape(do.Answer)
	default:
		e.fail("step %q: no action", s.ID)
	}
	e.close('}')
}

func (e *encoder) call(c Call) {
	e.text("call")
	e.key("functionality")
	e.text(c.Functionality)
	e.members("args", c.Args)
	e.word("app", string(c.App))
	e.count("at_most", c.AtMost)
	if c.Each != nil {
		e.key("each")
		e.value(*c.Each)
	}
}

func (e *encoder) from(r Ref, field string) {
	e.key("from")
	e.ref(r)
	e.key("field")
	e.text(field)
}

func (e *encoder) values(name string, vs []Value) {
	e.key(name)
	e.list(vs)
}

func (e *encoder) list(vs []Value) {
	e.open('[')
	for _, v := range vs {
		e.next()
		e.value(v)
	}
	e.close(']')
}

func (e *encoder) members(name string, vs map[string]Value) {
	e.key(name)
	e.open('{')
	for _, name := range sortedKeys(vs) {
		e.key(name)
		e.value(vs[name])
	}
	e.close('}')
}

func (e *encoder) ref(r Ref) {
	e.open('{')
	e.key("step")
	e.text(r.Step)
	e.key("pointer")
	e.text(r.Pointer)
	e.flag("one", r.One)
	e.close('}')
}

func (e *encoder) value(v Value) {
	if l, ok := v.(Literal); ok {
		if v = parts(l); v == nil {
			e.fail("a literal is no JSON")
			return
		}
	}
	switch v := v.(type) {
	case Literal:
		e.b = append(e.b, v.JSON...)
	case Ref:
		e.ref(v)
	case Memory:
		e.open('{')
		e.key("memory")
		e.text(v.Key)
		e.close('}')
	case Item:
		e.open('{')
		e.key("item")
		e.text(v.Pointer)
		e.close('}')
	case Template:
		e.open('{')
		e.values("template", v.Parts)
		e.close('}')
	case Object:
		e.open('{')
		e.members("object", v.Fields)
		e.close('}')
	case Array:
		e.list(v)
	default:
		e.fail("a value is missing")
	}
}

func (e *encoder) guard(g Guard) {
	e.open('{')
	e.key("op")
	switch g := g.(type) {
	case Compare:
		e.text(g.Op.String())
		e.key("a")
		e.value(g.A)
		e.key("b")
		e.value(g.B)
	case Present:
		e.text("present")
		e.key("a")
		e.ref(g.Ref)
	case And:
		e.guards("and", g.Of)
	case Or:
		e.guards("or", g.Of)
	case Not:
		e.guards("not", []Guard{g.Of})
	default:
		e.fail("a guard is missing")
	}
	e.close('}')
}

func (e *encoder) guards(op string, gs []Guard) {
	e.text(op)
	e.key("of")
	e.open('[')
	for _, g := range gs {
		e.next()
		e.guard(g)
	}
	e.close(']')
}

func (e *encoder) shape(s Shape) {
	e.open('{')
	e.flag("nullable", s.Nullable)
	if s.Type == ShapePick {
		if s.Pick == nil {
			e.fail("a pick from nothing")
			return
		}
		e.key("pick")
		e.ref(*s.Pick)
		e.close('}')
		return
	}
	e.key("type")
	e.text(s.Type.String())
	switch s.Type {
	case ShapeString:
		e.word("format", s.Format)
		e.flag("found", s.Found)
		e.words("enum", s.Enum)
	case ShapeArray:
		if s.Items == nil {
			e.fail("an array of nothing")
			return
		}
		e.key("items")
		e.shape(*s.Items)
		e.count("max_items", s.MaxItems)
	case ShapeObject:
		e.key("fields")
		e.open('{')
		for _, name := range sortedKeys(s.Fields) {
			e.key(name)
			e.shape(s.Fields[name])
		}
		e.close('}')
	}
	e.close('}')
}

// parts turns a literal array or object into the array or object of its parts,
// so that there is one form of each; nil is a literal that is no JSON.
func parts(v Value) Value {
	l, ok := v.(Literal)
	if !ok {
		return v
	}
	raw := bytes.TrimSpace(l.JSON)
	if !json.Valid(raw) {
		return nil
	}
	switch raw[0] {
	case '[':
		var elements []json.RawMessage
		if json.Unmarshal(raw, &elements) != nil {
			return nil
		}
		out := make(Array, len(elements))
		for i, e := range elements {
			out[i] = Literal{JSON: e}
		}
		return out
	case '{':
		var members map[string]json.RawMessage
		if json.Unmarshal(raw, &members) != nil {
			return nil
		}
		out := Object{Fields: make(map[string]Value, len(members))}
		for name, m := range members {
			out.Fields[name] = Literal{JSON: m}
		}
		return out
	}
	return Literal{JSON: raw}
}
