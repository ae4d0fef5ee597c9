package planner

import (
	"fmt"
	"strings"

	"github.com/isolategpt/isolategpt/isc"
)

// CodeMissed is of plans that are valid and that a model is asked about once
// more: an app that the request names has no call, a decide is not used, or it
// is given nothing of what was fetched.
const CodeMissed Code = "missed"

// missed finds what small models forget. It looks at the user's words, names,
// and the plan alone.
func missed(p *Plan, checked *Checked, query string, v view) []Problem {
	out := unread(p, checked)
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
				out = append(out, Problem{"", "/steps", CodeMissed, fmt.Sprintf("the request names %s, and no step calls %s of it: keep the other steps as they are, add one with \"app\":%q, and show the results of all in a template", id, name, id)})
			}
		}
	}
	return out
}

// unread finds answers that nobody uses and results that nobody reads. A decide
// without inputs answers from general knowledge, which beside a result that was
// fetched for nothing is hardly meant.
func unread(p *Plan, checked *Checked) []Problem {
	var out []Problem
	dropped := map[string]bool{}
	for _, n := range checked.Notes() {
		dropped[n.Step] = dropped[n.Step] || n.Code == NoteDropped
	}
	fetched := ""
	for _, s := range p.Steps {
		d, decides := s.Do.(Decide)
		switch {
		case decides && dropped[s.ID]:
			out = append(out, Problem{s.ID, "", CodeMissed, fmt.Sprintf("nobody uses its answer: keep the calls, give it the results it needs as inputs, and write \"answer\":{\"step\":%q,\"pointer\":\"\"}, or leave it out", s.ID)})
		case decides && len(d.Inputs) == 0 && fetched != "":
			out = append(out, Problem{s.ID, "/inputs", CodeMissed, fmt.Sprintf("it has no data, and nobody uses the result of %s: give it \"inputs\":[{\"step\":%q,\"pointer\":\"\"}], or leave %s out", fetched, fetched, fetched)})
		case !decides && dropped[s.ID]:
			fetched = s.ID
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
