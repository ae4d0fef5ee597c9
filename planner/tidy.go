package planner

import (
	"encoding/json"
	"fmt"
	"slices"
)

// fold leaves out each step that repeats an earlier one word for word, and
// rewrites the references to it. A read is folded only into a read before
// which nothing of its apps was changed in between.
func fold(p *Plan, c *Catalogue) []Problem {
	kinds := map[string]int{}
	for _, s := range p.Steps {
		kinds[kind(s)]++
	}
	if len(kinds) == len(p.Steps) {
		return nil // no two steps can be the same
	}
	var notes []Problem
	rename := map[string]string{}
	first := map[string]int{} // words of a step -> position among kept
	var kept []Step
	for _, s := range p.Steps {
		eachRef(&s, func(r Ref) Ref {
			if to, ok := rename[r.Step]; ok {
				r.Step = to
			}
			return r
		})
		words := wording(s)
		at, ok := first[words]
		if ok && words != "" && !changedSince(kept[at:], s, c) {
			rename[s.ID] = kept[at].ID
			notes = append(notes, Problem{s.ID, "", NoteFolded, fmt.Sprintf("it repeats step %s word for word", kept[at].ID)})
			continue
		}
		first[words] = len(kept)
		kept = append(kept, s)
	}
	p.Steps = kept
	p.Answer = valueRef(p.Answer, func(r Ref) Ref {
		if to, ok := rename[r.Step]; ok {
			r.Step = to
		}
		return r
	})
	return notes
}

// kind is equal for all steps that could be the same.
func kind(s Step) string {
	switch a := s.Do.(type) {
	case Call:
		return "call " + a.Functionality
	case Delegate:
		return "delegate " + a.Task
	case Decide:
		return "decide " + a.Question
	}
	return "other"
}

// wording is a step without its id, or empty if it cannot be written.
func wording(s Step) string {
	s.ID = ""
	e := &encoder{}
	raw, err := json.Marshal(e.step(s))
	if err != nil || e.err != nil {
		return ""
	}
	return string(raw)
}

// changedSince says whether a step after the first of kept changes what s
// reads. Two changes that are the same words are the same change.
func changedSince(kept []Step, s Step, c *Catalogue) bool {
	if changes(s, c) || len(kept) == 0 {
		return false
	}
	mine := parties(s, c)
	return slices.ContainsFunc(kept[1:], func(o Step) bool { return changes(o, c) && overlap(parties(o, c), mine) })
}

// drop leaves out the steps whose result nobody uses and that change nothing,
// until there are none.
func drop(p *Plan, c *Catalogue) []Problem {
	used := map[string]bool{}
	mark := func(refs []Ref) {
		for _, r := range refs {
			used[r.Step] = true
		}
	}
	mark(refsOf(p.Answer))
	keep := make([]bool, len(p.Steps))
	for i := len(p.Steps) - 1; i >= 0; i-- { // users come after what they use
		s := p.Steps[i]
		if keep[i] = used[s.ID] || changes(s, c); keep[i] {
			mark(stepRefs(s))
		}
	}
	var notes []Problem
	var kept []Step
	for i, s := range p.Steps {
		if keep[i] {
			kept = append(kept, s)
			continue
		}
		notes = append(notes, Problem{s.ID, "", NoteDropped, "nobody uses its result and it changes nothing"})
	}
	p.Steps = kept
	return notes
}
