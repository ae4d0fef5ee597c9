package planner

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	"github.com/isolategpt/isolategpt/isc"
)

// ValidateInput is what a plan may use beside the catalogue.
type ValidateInput struct {
	// MemoryKeys are the names of what the hub remembers. "today" is always
	// one.
	MemoryKeys []string
}

// Today is the memory key of the hub's date.
const Today = "today"

var stepID = regexp.MustCompile(`^[a-z][a-z0-9_]{0,31}$`)

// Validate checks everything about a plan that can be known before it runs,
// without a model. Either there are problems, all of them, in the order of the
// plan, or there is a [*Checked], the only form of a plan that can be executed.
//
// A step that nobody uses and that changes nothing is left out of the checked
// plan, and a step that repeats an earlier one word for word is folded into
// it; [Checked.Notes] tells. Validate does not change p, keeps nothing of it,
// and never panics, whatever p holds.
//
// Source: design, planning page, section 2.
func (p *Plan) Validate(c *Catalogue, in ValidateInput) (*Checked, []Problem) {
	if p == nil {
		return nil, []Problem{{Code: CodeMalformed, Text: "no plan"}}
	}
	if len(p.Steps) > MaxSteps {
		return nil, []Problem{{Pointer: "/steps", Code: CodeTooLarge, Text: fmt.Sprintf("over %d steps", MaxSteps)}}
	}
	q, problems := p.copied()
	if len(problems) > 0 {
		return nil, problems
	}
	return q.validate(c, in)
}

// validate is Validate for a plan of which nobody else holds a part, in the
// form that decoding gives. It becomes part of the result.
func (p *Plan) validate(c *Catalogue, in ValidateInput) (*Checked, []Problem) {
	q, n := p, len(p.Steps)
	k := &checker{cat: c, keys: in.MemoryKeys, plan: q, types: make(map[string]typ, n), pos: make(map[string]int, n)}
	k.ids()
	for i := range q.Steps {
		k.oneStep(i)
	}
	k.answer()
	if len(k.problems) > 0 {
		return nil, k.problems
	}
	notes := fold(q, c)
	notes = append(notes, drop(q, c)...)
	out := derive(q, c, k.types, notes)
	out.bodies = k.bodies
	out.keys = slices.Clone(in.MemoryKeys)
	return out, nil
}

// checker goes through a plan once, in its order.
type checker struct {
	cat      *Catalogue
	keys     []string
	plan     *Plan
	types    map[string]typ // of the results of the steps so far
	pos      map[string]int // position of every id
	step     string
	now      int // position of the step; len(plan.Steps) for the answer
	item     *typ
	bodies   map[string]json.RawMessage // of the calls that are written out
	problems []Problem
}

func (k *checker) fail(at path, code Code, format string, args ...any) {
	k.problems = append(k.problems, Problem{k.step, at.String(), code, fmt.Sprintf(format, args...)})
}

func (k *checker) ids() {
	for i, s := range k.plan.Steps {
		k.step = short(s.ID)
		if !stepID.MatchString(s.ID) {
			k.fail(root("/id"), CodeBadID, "an id is a small letter and at most 31 more of a-z, 0-9, _")
		}
		if _, ok := k.pos[s.ID]; ok {
			k.fail(root("/id"), CodeDuplicateID, "another step has this id")
			continue
		}
		k.pos[s.ID] = i
	}
}

func (k *checker) oneStep(i int) {
	s := k.plan.Steps[i]
	k.step, k.now, k.item = short(s.ID), i, nil
	if s.When != nil {
		if holds, known := k.guard(s.When, root("/when")); known && !holds {
			k.fail(root("/when"), CodeUnreachable, "this can never hold, so the step never runs")
		}
	}
	t := k.action(s.Do)
	if k.pos[s.ID] == i {
		k.types[s.ID] = t
	}
}

func (k *checker) action(a Action) typ {
	switch a := a.(type) {
	case Call:
		return k.call(a)
	case Delegate:
		return k.delegate(a)
	case Decide:
		k.inputs(a.Inputs)
		if a.Question == "" {
			k.fail(root("/question"), CodeMalformed, "there is no question")
		}
		if a.Spoke != "" && !slices.ContainsFunc(k.cat.Vanilla(), func(v Vanilla) bool { return v.Name == a.Spoke }) {
			k.fail(root("/spoke"), CodeUnknownSpoke, "there is no specialised spoke %q", short(a.Spoke))
		}
		return k.shape(a.Answer, root("/format"), len(a.Inputs) > 0, 0)
	case Where:
		return k.where(a)
	case Best:
		return k.best(a)
	case Ask:
		k.question(a.Question)
		return k.shape(a.Answer, root("/format"), false, 0).byPerson()
	}
	k.fail(root("/do"), CodeMalformed, "it does nothing")
	return anything()
}

func (k *checker) call(c Call) typ {
	e, ok := k.cat.entry(c.Functionality)
	if !ok {
		k.fail(root("/functionality"), CodeUnknownFunctionality, "there is no functionality %q", short(c.Functionality))
	}
	if ok && c.App != "" && !slices.Contains(e.Providers, c.App) {
		k.fail(root("/app"), CodeUnknownApp, "no installed app %q offers %s", short(string(c.App)), e.Name)
	}
	if c.Each != nil {
		k.each(c)
	}
	want, _ := formatType(k.cat.places(e.Request), "")
	k.arguments(c, e, want, ok)
	out, known := formatType(k.cat.places(e.Response), "")
	if !known {
		out = anything()
	}
	if c.Each != nil {
		return arrayOf(out)
	}
	return out
}

func (k *checker) each(c Call) {
	t := k.reference(*c.Each, root("/each"))
	elem, ok := t.child("*")
	if !t.any && t.types&isc.TypeArray == 0 || !ok {
		k.fail(root("/each"), CodeEachNoArray, "what it refers to is no array")
		elem = anything()
	}
	k.item = &elem
	if c.AtMost <= 0 {
		k.fail(root("/at_most"), CodeNoBound, "each needs at_most")
	}
}

// arguments checks the values given, and that none is missing. Names of
// functionalities that the catalogue lacks are checked for their references
// alone.
func (k *checker) arguments(c Call, e Entry, want typ, known bool) {
	before := len(k.problems)
	args := root("/args")
	for _, name := range sortedKeys(c.Args) {
		at := args.member("", name)
		place, ok := want.child(escape(name))
		if !ok && known {
			k.fail(at, CodeUnknownArgument, "%s takes no %q", e.Name, short(name))
		}
		if !ok || !known {
			place = anything()
		}
		k.fit(c.Args[name], place, at, 0)
	}
	if !known {
		return
	}
	for _, name := range k.cat.places(e.Request).required() {
		if _, ok := c.Args[name]; !ok {
			k.fail(root("/args"), CodeMissingArgument, "%s needs %q", e.Name, shown(name))
		}
	}
	if len(k.problems) == before {
		k.literals(c, e)
	}
}

func (k *checker) delegate(d Delegate) typ {
	if d.Task == "" {
		k.fail(root("/task"), CodeMalformed, "there is no task")
	}
	if d.App != "" {
		app, ok := k.cat.App(d.App)
		switch {
		case !ok:
			k.fail(root("/app"), CodeUnknownApp, "no app %q is installed", short(string(d.App)))
		case !app.Agent:
			k.fail(root("/app"), CodeNoAgent, "%s takes no sub-tasks: call its functionalities", app.ID)
		}
	}
	may := root("/may")
	for i, name := range d.May {
		if _, ok := k.cat.entry(name); !ok {
			k.fail(may.item("", i), CodeUnknownFunctionality, "there is no functionality %q", short(name))
		}
	}
	if len(d.May) > 0 && d.AtMost <= 0 {
		k.fail(root("/at_most"), CodeNoBound, "a sub-task that may ask for functionalities needs at_most")
	}
	k.inputs(d.Inputs)
	return typ{types: isc.TypeString, written: true}
}

func (k *checker) inputs(vs []Value) {
	at := root("/inputs")
	for i, v := range vs {
		k.value(v, at.item("", i), 0)
	}
}

func (k *checker) answer() {
	k.step, k.now, k.item = "", len(k.plan.Steps), nil
	if k.plan.Answer == nil {
		k.fail(root("/answer"), CodeNoAnswer, "there is no answer")
		return
	}
	k.value(k.plan.Answer, root("/answer"), 0)
	if len(refsOf(k.plan.Answer)) > 0 || slices.ContainsFunc(k.plan.Steps, func(s Step) bool { return changes(s, k.cat) }) {
		return
	}
	k.fail(root("/answer"), CodeNoAnswer, "the answer refers to no step, and no step changes anything")
}
