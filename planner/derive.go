package planner

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/isolategpt/isolategpt/isc"
)

// deriver finds out what follows from a plan that is known to be valid.
type deriver struct {
	out     *Checked
	types   map[string]typ
	origins []origin          // by position: what a step's result is made of
	words   []map[string]bool // by position: the calls and delegates whose free text may stand in it
}

func derive(p *Plan, c *Catalogue, types map[string]typ, notes []Problem) *Checked {
	d := &deriver{out: &Checked{plan: p, cat: c, pos: map[string]int{}, mixed: map[string][]string{}}, types: types}
	for i, s := range p.Steps {
		d.out.pos[s.ID] = i
	}
	for i := range p.Steps {
		d.order(i)
		d.oneStep(i)
	}
	d.sides()
	d.out.notes = append(notes, d.out.notes...)
	return d.out
}

// order finds what step i waits for.
func (d *deriver) order(i int) {
	s := d.out.plan.Steps[i]
	var edges []Edge
	add := func(from string, kind EdgeKind) { edges = append(edges, Edge{from, s.ID, kind}) }
	bare := s
	bare.When = nil
	for _, r := range stepRefs(bare) {
		add(r.Step, EdgeData)
	}
	for _, r := range guardRefsOf(s.When) {
		add(r.Step, EdgeGuard)
	}
	mine, changing := parties(s, d.out.cat), changes(s, d.out.cat)
	for _, o := range d.out.plan.Steps[:i] {
		if len(mine) > 0 && (changing || changes(o, d.out.cat)) && overlap(mine, parties(o, d.out.cat)) {
			add(o.ID, EdgeEffect)
		}
	}
	slices.SortFunc(edges, func(a, b Edge) int {
		if n := compare(d.out.pos[a.From], d.out.pos[b.From]); n != 0 {
			return n
		}
		return compare(a.Kind, b.Kind)
	})
	edges = slices.Compact(edges)
	d.out.edges = append(d.out.edges, edges...)
	var after []string
	for _, e := range edges {
		after = append(after, e.From)
	}
	d.out.after = append(d.out.after, slices.Compact(after))
}

func (d *deriver) oneStep(i int) {
	s := d.out.plan.Steps[i]
	control := map[int]bool{}
	for _, r := range guardRefsOf(s.When) {
		maps.Copy(control, d.originOf(r).steps)
	}
	made, words := newOrigin(), map[string]bool{}
	var current origin
	switch a := s.Do.(type) {
	case Call:
		if a.Each != nil {
			current = d.originOf(*a.Each)
			maps.Copy(control, current.steps)
		}
		d.callFlows(s, a, current, control)
		made.steps[i], words[s.ID] = true, true
	case Delegate:
		for n, v := range a.Inputs {
			d.flow(s.ID, fmt.Sprintf("/inputs/%d", n), 0, v, origin{}, control)
			d.wordsOf(v, words)
		}
		words[s.ID] = true
		d.mix(s, words)
		made.steps[i] = true
	case Decide:
		for n, v := range a.Inputs {
			d.flow(s.ID, fmt.Sprintf("/inputs/%d", n), 0, v, origin{}, control)
			d.wordsOf(v, words)
		}
		d.mix(s, words)
		d.gather(s, made, words)
	case Ask:
		made.asked[i] = true
		d.gather(s, made, words)
	default:
		d.gather(s, made, words)
	}
	d.origins = append(d.origins, made)
	d.words = append(d.words, words)
}

// gather adds everything that a step refers to.
func (d *deriver) gather(s Step, made origin, words map[string]bool) {
	s.When = nil
	for _, r := range stepRefs(s) {
		made.add(d.originOf(r))
		d.wordsOf(r, words)
	}
	switch a := s.Do.(type) {
	case Decide:
		memoryKeys(Array(a.Inputs), made.memory)
	case Where:
		memoryKeys(a.Value, made.memory)
	case Ask:
		memoryKeys(a.Question, made.memory)
	}
}

func (d *deriver) originOf(r Ref) origin {
	if i, ok := d.out.pos[r.Step]; ok && i < len(d.origins) {
		return d.origins[i]
	}
	return newOrigin()
}

// wordsOf adds the steps whose free text stands in a value.
func (d *deriver) wordsOf(v Value, into map[string]bool) {
	for _, r := range refsOf(v) {
		i, ok := d.out.pos[r.Step]
		if !ok || i >= len(d.words) {
			continue
		}
		parts, _ := split(r.Pointer)
		if t, _, ok := walk(d.types[r.Step], parts); ok && t.closed() {
			continue
		}
		maps.Copy(into, d.words[i])
	}
}

// mix notes a context in which free text of more than one app would meet.
func (d *deriver) mix(s Step, words map[string]bool) {
	from := d.ids(func(id string) bool { return words[id] })
	var apps []string
	for _, id := range from {
		apps = append(apps, strings.Join(parties(d.out.plan.Steps[d.out.pos[id]], d.out.cat), "|"))
	}
	slices.Sort(apps)
	apps = slices.Compact(apps)
	if len(apps) < 2 {
		return
	}
	d.out.mixed[s.ID] = from
	d.out.notes = append(d.out.notes, Problem{s.ID, "/inputs", NoteMixed, "free text of more than one app meets here: " + strings.Join(from, ", ")})
}

func (d *deriver) ids(in func(id string) bool) []string {
	var out []string
	for _, s := range d.out.plan.Steps {
		if in(s.ID) {
			out = append(out, s.ID)
		}
	}
	return out
}

func (d *deriver) callFlows(s Step, c Call, current origin, control map[int]bool) {
	e, _ := d.out.cat.entry(c.Functionality)
	for _, name := range sortedKeys(c.Args) {
		at := "/" + escape(name)
		role := isc.Payload
		if t, ok := formatType(d.out.cat.places(e.Request), at); ok {
			role = t.role
		}
		d.flow(s.ID, at, role, c.Args[name], current, control)
	}
}

func (d *deriver) flow(to, at string, role isc.Role, v Value, current origin, control map[int]bool) {
	made := newOrigin()
	memoryKeys(v, made.memory)
	for _, r := range refsOf(v) {
		made.add(d.originOf(r))
	}
	if hasItem(v) {
		made.add(current)
	}
	f := Flow{To: to, Argument: at, Role: role, Memory: sortedKeys(made.memory)}
	f.From = d.ids(func(id string) bool { return made.steps[d.out.pos[id]] })
	f.Asked = d.ids(func(id string) bool { return made.asked[d.out.pos[id]] })
	f.Control = d.ids(func(id string) bool { return control[d.out.pos[id]] })
	if isLiteral(v) {
		if raw, err := json.Marshal((&encoder{}).plain(v)); err == nil {
			f.Literal = raw
		}
	}
	d.out.flows = append(d.out.flows, f)
}

// sides tells primary from secondary apps.
func (d *deriver) sides() {
	direct := map[int]bool{}
	for _, r := range refsOf(d.out.plan.Answer) {
		maps.Copy(direct, d.originOf(r).steps)
	}
	first, second := map[isc.AppID]bool{}, map[isc.AppID]bool{}
	for i, s := range d.out.plan.Steps {
		into := second
		if direct[i] || changes(s, d.out.cat) {
			into = first
		}
		for _, id := range d.out.Candidates(s.ID) {
			into[id] = true
		}
	}
	for id := range first {
		delete(second, id)
	}
	d.out.primary, d.out.others = sortedKeys(first), sortedKeys(second)
}
