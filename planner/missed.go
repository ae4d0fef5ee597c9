package planner

import (
	"fmt"
	"strings"

	"github.com/isolategpt/isolategpt/isc"
)

// CodeMissed is of plans that are valid and that a model is asked about once
// more: an app that the request names has no call, or a decide is not used.
const CodeMissed Code = "missed"

// missed finds what small models forget. It looks at the user's words, names,
// and the plan alone.
func missed(p *Plan, checked *Checked, query string, v view) []Problem {
	var out []Problem
	for _, n := range checked.Notes() {
		if n.Code != NoteDropped {
			continue
		}
		for _, s := range p.Steps {
			if _, decides := s.Do.(Decide); decides && s.ID == n.Step {
				out = append(out, Problem{n.Step, "", CodeMissed, "nobody uses its answer: give it the results it needs as inputs and refer to it in the answer, or leave it out"})
			}
		}
	}
	called := map[string]map[isc.AppID]bool{}
	for _, s := range p.Steps {
		if c, ok := s.Do.(Call); ok && v.hasChoice(c.Functionality) {
			if called[c.Functionality] == nil {
				called[c.Functionality] = map[isc.AppID]bool{}
			}
			called[c.Functionality][c.App] = true
		}
	}
	if len(called) == 0 {
		return out
	}
	asked := " " + strings.Join(plainWords(query), " ") + " "
	for _, name := range sortedKeys(called) {
		e, _ := v.entry(name)
		for _, id := range e.Providers {
			if !called[name][id] && strings.Contains(asked, " "+strings.Join(plainWords(string(id)), " ")+" ") {
				out = append(out, Problem{"", "/steps", CodeMissed, fmt.Sprintf("the request names %s, and no step calls %s of it: add one with \"app\":%q", id, name, id)})
			}
		}
	}
	return out
}

// hasChoice says whether several apps offer a functionality.
func (v view) hasChoice(name string) bool {
	e, ok := v.entry(name)
	return ok && len(e.Providers) > 1
}

// plainWords are the words of a text in small letters, whatever stands between.
func plainWords(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return strings.ContainsRune(" \t\n.,:;!?-_'\"()/", r) })
}
