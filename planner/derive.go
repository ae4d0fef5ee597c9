package planner

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/isolategpt/isolategpt/isc"
)

// deriver finds out what follows from a plan that is known to be valid.
type deriver struct {
	out      *Checked
	types    map[string]typ
	origins  []origin   // by position: what a step's result is made of
	words    []set[int] // by position: the calls and delegates whose free text may stand in it
	parties  [][]string // by position
	changing []bool     // by position
}

func derive(p *Plan, c *Catalogue, types map[string]typ, notes []Problem) *Checked {
	n := len(p.Steps)
	d := &deriver{
		out:   &Checked{plan: p, cat: c, pos: make(map[string]int, n), after: make([][]string, 0, n), from: make([]int, 0, n)},
		types: types, origins: make([]origin, 0, n), words: make([]set[int], 0, n),
		parties: make([][]string, n), changing: make([]bool, n),
	}
	for i, s := range p.Steps {
		d.out.pos[s.ID] = i
		d.parties[i], d.changing[i] = parties(s, c), changes(s, c)
	}
	for i := range p.Steps {
		d.order(i)
		d.out.from = append(d.out.from, len(d.out.flows))
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
	mine, changing := d.parties[i], d.changing[i]
	for n, o := range d.out.plan.Steps[:i] {
		if len(mine) > 0 && (changing || d.changing[n]) && overlap(mine, d.parties[n]) {
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
	var control set[int]
	for _, r := range guardRefsOf(s.When) {
		control.merge(d.originOf(r).steps)
	}
	var made origin
	var words set[int]
	switch a := s.Do.(type) {
	case Call:
		var current origin
		if a.Each != nil {
			current = d.originOf(*a.Each)
			control.merge(current.steps)
		}
		d.callFlows(s, a, current, control)
		made.steps.add(i)
		words.add(i)
	case Delegate:
		d.inputs(s, a.Inputs, control, &words)
		words.add(i)
		d.mix(s, words)
		made.steps.add(i)
	case Decide:
		d.inputs(s, a.Inputs, control, &words)
		d.mix(s, words)
		d.gather(s, &made, &words)
	case Ask:
		made.asked.add(i)
		d.gather(s, &made, &words)
	default:
		d.gather(s, &made, &words)
	}
	d.origins = append(d.origins, made)
	d.words = append(d.words, words)
}

func (d *deriver) inputs(s Step, vs []Value, control set[int], words *set[int]) {
	for n, v := range vs {
		d.flow(s.ID, "/inputs/"+strconv.Itoa(n), 0, v, origin{}, control)
		d.wordsOf(v, words)
	}
}

// gather adds everything that a step refers to.
func (d *deriver) gather(s Step, made *origin, words *set[int]) {
	s.When = nil
	for _, r := range stepRefs(s) {
		made.add(d.originOf(r))
		d.wordsOf(r, words)
	}
	switch a := s.Do.(type) {
	case Decide:
		memoryKeys(Array(a.Inputs), &made.memory)
	case Where:
		memoryKeys(a.Value, &made.memory)
	case Ask:
		memoryKeys(a.Question, &made.memory)
	default: // any other reads no text of apps
	}
}

func (d *deriver) originOf(r Ref) origin {
	if i, ok := d.out.pos[r.Step]; ok && i < len(d.origins) {
		return d.origins[i]
	}
	return origin{}
}

// wordsOf adds the steps whose free text stands in a value.
func (d *deriver) wordsOf(v Value, into *set[int]) {
	for _, r := range refsOf(v) {
		i, ok := d.out.pos[r.Step]
		if !ok || i >= len(d.words) {
			continue
		}
		parts, _ := split(r.Pointer)
		if t, _, ok := walk(d.types[r.Step], parts); ok && t.closed() {
			continue
		}
		into.merge(d.words[i])
	}
}

// mix notes a context in which free text of more than one app would meet.
func (d *deriver) mix(s Step, words set[int]) {
	var apps set[string]
	for _, i := range words {
		apps.add(strings.Join(d.parties[i], "|"))
	}
	if len(apps) < 2 {
		return
	}
	from := d.ids(words)
	if d.out.mixed == nil {
		d.out.mixed = map[string][]string{}
	}
	d.out.mixed[s.ID] = from
	d.out.notes = append(d.out.notes, Problem{s.ID, "/inputs", NoteMixed, "free text of more than one app meets here: " + strings.Join(from, ", ")})
}

// ids are the steps at positions, in the plan's order.
func (d *deriver) ids(positions set[int]) []string {
	if len(positions) == 0 {
		return nil
	}
	out := make([]string, len(positions))
	for n, i := range positions {
		out[n] = d.out.plan.Steps[i].ID
	}
	return out
}

func (d *deriver) callFlows(s Step, c Call, current origin, control set[int]) {
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

func (d *deriver) flow(to, at string, role isc.Role, v Value, current origin, control set[int]) {
	var made origin
	memoryKeys(v, &made.memory)
	for _, r := range refsOf(v) {
		made.add(d.originOf(r))
	}
	if hasItem(v) {
		made.add(current)
	}
	f := Flow{To: to, Argument: at, Role: role, Memory: made.memory}
	f.From, f.Asked, f.Control = d.ids(made.steps), d.ids(made.asked), d.ids(control)
	if isLiteral(v) {
		f.Literal = literalFlow(v)
	}
	d.out.flows = append(d.out.flows, f)
}

// literalFlow is what the plan says itself, as JSON that is safe to show
// anywhere.
func literalFlow(v Value) json.RawMessage {
	if l, ok := v.(Literal); ok && !bytes.ContainsAny(l.JSON, "<>&\u2028\u2029") {
		return slices.Clone(l.JSON)
	}
	raw, err := json.Marshal(plain(v))
	if err != nil {
		return nil
	}
	return raw
}

// sides tells primary from secondary apps.
func (d *deriver) sides() {
	var direct set[int]
	for _, r := range refsOf(d.out.plan.Answer) {
		direct.merge(d.originOf(r).steps)
	}
	var first, second set[isc.AppID]
	for i, s := range d.out.plan.Steps {
		into := &second
		if slices.Contains(direct, i) || d.changing[i] {
			into = &first
		}
		into.merge(d.out.candidates(s))
	}
	d.out.primary = first
	for _, id := range second {
		if _, both := slices.BinarySearch(first, id); !both {
			d.out.others = append(d.out.others, id)
		}
	}
}
