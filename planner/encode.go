package planner

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/isolategpt/isolategpt/isc"
)

// MarshalJSON gives the canonical JSON form, which [DecodePlan] reads back. A
// literal array or object is written as the array or object of its parts, and
// decodes as one.
func (p *Plan) MarshalJSON() ([]byte, error) {
	e := &encoder{}
	steps := make([]any, len(p.Steps))
	for i, s := range p.Steps {
		steps[i] = e.step(s)
	}
	out := map[string]any{"steps": steps, "answer": e.value(p.Answer)}
	put(out, "replan", p.Replan)
	if e.err != nil {
		return nil, e.err
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(out); err != nil {
		return nil, fmt.Errorf("planner: encode plan: %w", err)
	}
	return isc.Canonical(b.Bytes())
}

type encoder struct{ err error }

func (e *encoder) fail(format string, args ...any) any {
	if e.err == nil {
		e.err = fmt.Errorf("planner: encode plan: "+format, args...)
	}
	return nil
}

// put sets a key unless v is the zero value, which stands for left out.
func put[T comparable](m map[string]any, key string, v T) {
	var zero T
	if v != zero {
		m[key] = v
	}
}

func (e *encoder) step(s Step) any {
	out := map[string]any{"id": s.ID}
	if s.When != nil {
		out["when"] = e.guard(s.When)
	}
	switch do := s.Do.(type) {
	case Call:
		out["do"], out["functionality"] = "call", do.Functionality
		out["args"] = e.members(do.Args)
		put(out, "app", string(do.App))
		put(out, "at_most", do.AtMost)
		if do.Each != nil {
			out["each"] = e.value(*do.Each)
		}
	case Delegate:
		out["do"], out["task"], out["inputs"] = "delegate", do.Task, e.values(do.Inputs)
		put(out, "app", string(do.App))
		put(out, "at_most", do.AtMost)
		put(out, "open_ended", do.OpenEnded)
		if len(do.May) > 0 {
			out["may"] = do.May
		}
	case Decide:
		out["do"], out["question"], out["inputs"] = "decide", do.Question, e.values(do.Inputs)
		out["format"] = e.shape(do.Answer)
		put(out, "spoke", do.Spoke)
	case Where:
		out["do"], out["from"], out["field"] = "where", e.value(do.From), do.Field
		out["op"], out["value"] = do.Op.String(), e.value(do.Value)
	case Best:
		out["do"], out["from"], out["field"], out["most"] = "best", e.value(do.From), do.Field, do.Most.String()
	case Ask:
		out["do"], out["question"], out["format"] = "ask", e.value(do.Question), e.shape(do.Answer)
	default:
		e.fail("step %q: no action", s.ID)
	}
	return out
}

func (e *encoder) values(vs []Value) []any {
	out := make([]any, len(vs))
	for i, v := range vs {
		out[i] = e.value(v)
	}
	return out
}

func (e *encoder) members(vs map[string]Value) map[string]any {
	out := make(map[string]any, len(vs))
	for name, v := range vs {
		out[name] = e.value(v)
	}
	return out
}

func (e *encoder) value(v Value) any {
	switch v := parts(v).(type) {
	case Literal:
		return v.JSON
	case Ref:
		return v
	case Memory:
		return v
	case Item:
		return v
	case Template:
		return map[string]any{"template": e.values(v.Parts)}
	case Object:
		return map[string]any{"object": e.members(v.Fields)}
	case Array:
		return e.values(v)
	}
	return e.fail("a value is missing or no JSON")
}

func (e *encoder) guard(g Guard) any {
	switch g := g.(type) {
	case Compare:
		return map[string]any{"op": g.Op.String(), "a": e.value(g.A), "b": e.value(g.B)}
	case Present:
		return map[string]any{"op": "present", "a": e.value(g.Ref)}
	case And:
		return map[string]any{"op": "and", "of": e.guards(g.Of)}
	case Or:
		return map[string]any{"op": "or", "of": e.guards(g.Of)}
	case Not:
		return map[string]any{"op": "not", "of": e.guards([]Guard{g.Of})}
	}
	return e.fail("a guard is missing")
}

func (e *encoder) guards(gs []Guard) []any {
	out := make([]any, len(gs))
	for i, g := range gs {
		out[i] = e.guard(g)
	}
	return out
}

func (e *encoder) shape(s Shape) any {
	out := map[string]any{}
	put(out, "nullable", s.Nullable)
	if s.Type == ShapePick {
		if s.Pick == nil {
			return e.fail("a pick from nothing")
		}
		out["pick"] = *s.Pick
		return out
	}
	out["type"] = s.Type.String()
	switch s.Type {
	case ShapeString:
		put(out, "format", s.Format)
		put(out, "found", s.Found)
		if len(s.Enum) > 0 {
			out["enum"] = s.Enum
		}
	case ShapeArray:
		if s.Items == nil {
			return e.fail("an array of nothing")
		}
		out["items"] = e.shape(*s.Items)
		put(out, "max_items", s.MaxItems)
	case ShapeObject:
		fields := map[string]any{}
		for name, f := range s.Fields {
			fields[name] = e.shape(f)
		}
		out["fields"] = fields
	}
	return out
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
