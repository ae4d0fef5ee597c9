package planner

import (
	"fmt"

	"github.com/isolategpt/isolategpt/isc"
)

func (d *decoder) plan(raw string) *Plan {
	f := d.object(raw, root(""))
	p := &Plan{Replan: f.count("replan", MaxReplan)}
	steps := f.list("steps", false)
	if len(steps) > MaxSteps {
		d.fail(root("/steps"), CodeTooLarge, "over %d steps", MaxSteps)
		steps = nil
	}
	for _, s := range steps {
		p.Steps = append(p.Steps, d.oneStep(s, len(p.Steps)))
	}
	d.step = ""
	if a, ok := f.take("answer", true); ok {
		p.Answer = d.value(a, root("/answer"), 0)
	}
	f.end()
	return p
}

// oneStep reads a step; the pointers of its problems are inside the step.
func (d *decoder) oneStep(raw string, n int) Step {
	d.step = fmt.Sprintf("#%d", n+1) // until its id is known
	f := d.object(raw, root(""))
	if f.bad {
		return Step{}
	}
	if id := f.text("id", true); id != "" {
		d.step = short(id)
	}
	s := Step{ID: d.step}
	if g, ok := f.take("when", false); ok {
		s.When = d.guard(g, root("/when"), 0)
	}
	s.Do = d.action(f.text("do", true), &f)
	f.end()
	return s
}

// Other words for a call, for models that decide by "do" what keys follow. A
// plan is written with "call" alone.
const (
	doEach = "call_each"
	doIf   = "call_if"
)

func (d *decoder) action(do string, f *fields) Action {
	switch do {
	case "call":
		return d.call(f)
	case doEach:
		if !f.has("each") {
			d.fail(root(""), CodeMalformed, "%q is missing", "each")
		}
		return d.call(f)
	case doIf: // its guard was read already
		return d.call(f)
	case "delegate":
		return Delegate{
			App: isc.AppID(f.text("app", false)), Task: f.text("task", true), Inputs: d.inputs(f),
			May: f.texts("may"), AtMost: f.count("at_most", MaxAtMost), OpenEnded: f.flag("open_ended"),
		}
	case "decide":
		return Decide{Question: f.text("question", true), Inputs: d.inputs(f), Answer: d.format(f), Spoke: f.text("spoke", false)}
	case "where":
		w := Where{From: d.refAt(f, "from"), Field: f.text("field", true), Op: parse(d, f, "op", ops)}
		if v, ok := f.takeValue("value"); ok {
			w.Value = d.value(v, root("/value"), 0)
		}
		return w
	case "best":
		return Best{From: d.refAt(f, "from"), Field: f.text("field", true), Most: parse(d, f, "most", extremes)}
	case "ask":
		a := Ask{Answer: d.format(f)}
		if v, ok := f.take("question", true); ok {
			a.Question = d.value(v, root("/question"), 0)
		}
		return a
	}
	f.left = nil // its keys mean nothing without a known "do"
	if do != "" {
		d.fail(root("/do"), CodeMalformed, "%q is none of call, delegate, decide, where, best, ask", short(do))
	}
	return nil
}

func (d *decoder) call(f *fields) Call {
	c := Call{
		Functionality: f.text("functionality", true), App: isc.AppID(f.text("app", false)),
		AtMost: f.count("at_most", MaxAtMost),
	}
	if a, ok := f.take("args", false); ok {
		c.Args = d.members(a, root("/args"), 0)
	}
	if c.Args == nil {
		c.Args = map[string]Value{}
	}
	if f.has("each") {
		if e, ok := f.take("each", false); ok {
			r := d.ref(e, root("/each"))
			c.Each = &r
		}
	}
	return c
}

func (d *decoder) inputs(f *fields) []Value {
	var out []Value
	at := root("/inputs")
	for i, raw := range f.list("inputs", false) {
		out = append(out, d.value(raw, at.item("", i), 0))
	}
	return out
}

// format reads an answer's shape; left out, it is a string that the model
// writes.
func (d *decoder) format(f *fields) Shape {
	raw, ok := f.take("format", false)
	if !ok {
		return Shape{Type: ShapeString}
	}
	return d.shape(raw, root("/format"), 0)
}

func (d *decoder) shape(raw string, at path, depth int) Shape {
	if d.deep(at, depth) {
		return Shape{}
	}
	f := d.object(raw, at)
	s := Shape{Nullable: f.flag("nullable")}
	if f.has("pick") {
		s.Type = ShapePick
		r := d.refAt(&f, "pick")
		s.Pick = &r
		f.end()
		return s
	}
	s.Type = parse(d, &f, "type", shapeTypes)
	switch s.Type {
	case ShapeString:
		s.Enum, s.Format, s.Found = f.texts("enum"), f.text("format", false), f.flag("found")
	case ShapeArray:
		if items, ok := f.take("items", true); ok {
			item := d.shape(items, at.to("/items"), depth+1)
			s.Items = &item
		}
		s.MaxItems = f.count("max_items", MaxItems)
	case ShapeObject:
		s.Fields = d.shapes(&f, at, depth)
	}
	f.end()
	return s
}

func (d *decoder) shapes(f *fields, at path, depth int) map[string]Shape {
	raw, ok := f.take("fields", true)
	if !ok {
		return nil
	}
	inner := d.object(raw, at.to("/fields"))
	if len(inner.left) > MaxParts {
		d.fail(at.to("/fields"), CodeTooLarge, "over %d fields", MaxParts)
		return nil
	}
	out := map[string]Shape{}
	for _, m := range inner.left {
		out[m.key] = d.shape(m.raw, at.member("/fields", m.key), depth+1)
	}
	return out
}

// parse reads a word of a closed set.
func parse[T ~uint8](d *decoder, f *fields, key string, names map[string]T) T {
	word := f.text(key, true)
	v, ok := names[word]
	if !ok && word != "" {
		d.fail(f.at.member("", key), CodeMalformed, "%q is none of %v", short(word), sortedKeys(names))
	}
	return v
}
