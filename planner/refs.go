package planner

import (
	"slices"

	"github.com/isolategpt/isolategpt/isc"
)

// eachRef calls do for every reference in a step or value, in a fixed order,
// and puts what it returns in its place. It is how references are listed and
// how they are rewritten.
func eachRef(s *Step, do func(Ref) Ref) {
	if s.When != nil {
		s.When = guardRefs(s.When, do)
	}
	switch a := s.Do.(type) {
	case Call:
		memberRefs(a.Args, do)
		if a.Each != nil {
			*a.Each = do(*a.Each)
		}
	case Delegate:
		valueRefs(a.Inputs, do)
	case Decide:
		valueRefs(a.Inputs, do)
		shapeRefs(&a.Answer, do)
		s.Do = a
	case Where:
		a.From, a.Value = do(a.From), valueRef(a.Value, do)
		s.Do = a
	case Best:
		a.From = do(a.From)
		s.Do = a
	case Ask:
		a.Question = valueRef(a.Question, do)
		shapeRefs(&a.Answer, do)
		s.Do = a
	}
}

func valueRef(v Value, do func(Ref) Ref) Value {
	switch v := v.(type) {
	case Ref:
		if r := do(v); r != v {
			return r
		}
	case Template:
		valueRefs(v.Parts, do)
	case Array:
		valueRefs(v, do)
	case Object:
		memberRefs(v.Fields, do)
	default: // any other refers to no step
	}
	return v
}

func valueRefs(vs []Value, do func(Ref) Ref) {
	for i := range vs {
		vs[i] = valueRef(vs[i], do)
	}
}

func memberRefs(vs map[string]Value, do func(Ref) Ref) {
	for _, name := range sortedKeys(vs) {
		vs[name] = valueRef(vs[name], do)
	}
}

func guardRefs(g Guard, do func(Ref) Ref) Guard {
	switch g := g.(type) {
	case Compare:
		g.A, g.B = valueRef(g.A, do), valueRef(g.B, do)
		return g
	case Present:
		g.Ref = do(g.Ref)
		return g
	case And:
		for i := range g.Of {
			g.Of[i] = guardRefs(g.Of[i], do)
		}
	case Or:
		for i := range g.Of {
			g.Of[i] = guardRefs(g.Of[i], do)
		}
	case Not:
		g.Of = guardRefs(g.Of, do)
		return g
	}
	return g
}

func shapeRefs(s *Shape, do func(Ref) Ref) {
	if s.Pick != nil {
		*s.Pick = do(*s.Pick)
	}
	if s.Items != nil {
		shapeRefs(s.Items, do)
	}
	for _, name := range sortedKeys(s.Fields) {
		f := s.Fields[name]
		shapeRefs(&f, do)
		s.Fields[name] = f
	}
}

// stepRefs are all references of a step, which is one of a copied plan.
func stepRefs(s Step) []Ref {
	var out []Ref
	eachRef(&s, func(r Ref) Ref { out = append(out, r); return r })
	return out
}

// refsOf are all references of a value of a copied plan.
func refsOf(v Value) []Ref {
	var out []Ref
	valueRef(v, func(r Ref) Ref { out = append(out, r); return r })
	return out
}

func guardRefsOf(g Guard) []Ref {
	var out []Ref
	if g != nil {
		guardRefs(g, func(r Ref) Ref { out = append(out, r); return r })
	}
	return out
}

// changes says whether a step may change something outside the run: a call
// that is no read, and every sub-task that is given functionalities.
func changes(s Step, c *Catalogue) bool {
	switch a := s.Do.(type) {
	case Call:
		e, ok := c.entry(a.Functionality)
		return !ok || e.Effect != isc.Read
	case Delegate:
		return a.App != "" || len(a.May) > 0
	default: // any other refers to no array
	}
	return false
}

// parties are the apps whose state a step may touch or read: the one named, or
// all that could be chosen. A functionality that nobody serves yet stands for
// its future provider.
func parties(s Step, c *Catalogue) []string {
	var out []string
	switch a := s.Do.(type) {
	case Call:
		out = entryParties(c, a.Functionality, a.App)
	case Delegate:
		if a.App != "" {
			out = append(out, string(a.App))
		}
		for _, name := range a.May {
			out = append(out, entryParties(c, name, "")...)
		}
	default: // any other refers to no step
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func entryParties(c *Catalogue, name string, app isc.AppID) []string {
	if app != "" {
		return []string{string(app)}
	}
	e, _ := c.entry(name)
	if len(e.Providers) == 0 {
		return []string{"?" + name} // no app id starts with a question mark
	}
	out := make([]string, len(e.Providers))
	for i, id := range e.Providers {
		out[i] = string(id)
	}
	return out
}

func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}
