package planner

import (
	"fmt"
	"slices"
	"strconv"
)

// fold leaves out each step that repeats an earlier one word for word, and
// rewrites the references to it. A read is folded only into a read before
// which nothing of its apps was changed in between.
func fold(p *Plan, c *Catalogue) []Problem {
	if len(p.Steps) < 2 {
		return nil
	}
	kinds := make(map[kind]bool, len(p.Steps))
	for _, s := range p.Steps {
		kinds[kindOf(s)] = true
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
type kind struct {
	do   byte
	what string
}

func kindOf(s Step) kind {
	switch a := s.Do.(type) {
	case Call:
		return kind{'c', a.Functionality}
	case Delegate:
		return kind{'t', a.Task}
	case Decide:
		return kind{'d', a.Question}
	default: // any other has nothing to tidy
	}
	return kind{}
}

// wording is a step without its id, or empty if it cannot be written. It is
// equal for two steps exactly if what they say is.
func wording(s Step) string {
	if c, ok := s.Do.(Call); ok && s.When == nil {
		if b, ok := appendCall(nil, c); ok {
			return string(b)
		}
	}
	s.ID = ""
	e := &encoder{}
	e.step(s)
	if e.err != nil {
		return ""
	}
	return string(e.b)
}

// appendCall writes a call whose arguments are literals, references, items and
// memory keys, as most are, so that no other call is written like it.
func appendCall(b []byte, c Call) ([]byte, bool) {
	b = appendWords(b, 'c', c.Functionality, string(c.App))
	b = strconv.AppendInt(b, int64(c.AtMost), 10)
	if c.Each != nil {
		b, _ = appendValue(b, *c.Each)
	}
	for _, name := range sortedKeys(c.Args) {
		var ok bool
		if b, ok = appendValue(appendWords(b, 'a', name), c.Args[name]); !ok {
			return nil, false
		}
	}
	return b, true
}

func appendValue(b []byte, v Value) ([]byte, bool) {
	switch v := v.(type) {
	case Literal:
		return appendWords(b, 'l', string(v.JSON)), true
	case Ref:
		if v.One {
			return appendWords(b, 'o', v.Step, v.Pointer), true
		}
		return appendWords(b, 'r', v.Step, v.Pointer), true
	case Memory:
		return appendWords(b, 'm', v.Key), true
	case Item:
		return appendWords(b, 'i', v.Pointer), true
	default: // any other is itself
	}
	return nil, false
}

// appendWords writes a tag and words with their lengths.
func appendWords(b []byte, tag byte, words ...string) []byte {
	b = append(b, tag)
	for _, w := range words {
		b = strconv.AppendInt(b, int64(len(w)), 10)
		b = append(append(b, ':'), w...)
	}
	return b
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
