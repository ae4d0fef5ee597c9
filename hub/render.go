package hub

import (
	"encoding/json"
	"strings"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/planner"
)

// maxFacts bounds the facts of one answer.
const maxFacts = 256

// rendering makes the answer of a run. It is the hub's template with values in
// place: closed values as they are, free text of apps as attributed blocks that
// cannot be taken for the hub's words.
type rendering struct {
	run    *run
	job    *job
	scope  *scope
	text   strings.Builder
	answer Answer
}

// answer joins the results (design, section 4.6).
func (r *run) answer(j *job, rs map[string]*result) Answer {
	w := &rendering{run: r, job: j, scope: &scope{results: rs, memory: func(string) (labelled, bool) { return labelled{}, false }}}
	w.answer.Label = isc.UserLabel()
	for _, s := range j.plan.Steps {
		w.answer.Steps = append(w.answer.Steps, outcomeOf(s, rs[s.ID]))
	}
	w.value(j.plan.Answer)
	w.unfinished()
	w.answer.Text = strings.TrimSpace(w.text.String())
	return w.answer
}

func (w *rendering) value(v planner.Value) {
	switch v := v.(type) {
	case planner.Literal:
		w.text.WriteString(plain(v.JSON))
	case planner.Template:
		for _, p := range v.Parts {
			w.value(p)
		}
	case planner.Array:
		for i, p := range v {
			if i > 0 {
				w.text.WriteString(", ")
			}
			w.value(p)
		}
	case planner.Ref:
		w.ref(v)
		w.facts(v, map[string]bool{})
	default:
		got, err := w.scope.resolve(v)
		if err != nil {
			w.text.WriteString("(not available)")
			return
		}
		w.show(got, "")
	}
}

func (w *rendering) ref(v planner.Ref) {
	got, err := w.scope.ref(v)
	if err != nil {
		w.text.WriteString("(not available)")
		return
	}
	w.show(got, w.scope.results[v.Step].app)
}

// show writes a value: numbers, booleans and closed strings where they stand,
// anything else as a block of its own. Text that no app had a hand in needs no
// block.
func (w *rendering) show(v labelled, author isc.AppID) {
	w.answer.Label = w.answer.Label.Join(v.label)
	text := readable(v.json)
	apps := v.label.Apps()
	if !v.free || len(apps) == 0 || isPlainScalar(v.json) {
		w.text.WriteString(isc.Visible(text))
		return
	}
	w.answer.Blocks = append(w.answer.Blocks, Block{Sources: v.label.Sources(), Text: text})
	w.text.WriteString("\n" + byline(author, apps) + ":\n")
	for line := range strings.Lines(text) {
		w.text.WriteString("| " + isc.Visible(strings.TrimRight(line, "\r\n")) + "\n")
	}
}

// byline says who wrote a block: the app that returned it, or a model that read
// what apps returned; and whose data went into it.
func byline(author isc.AppID, apps []isc.AppID) string {
	var others []string
	for _, id := range apps {
		if id != author {
			others = append(others, string(id))
		}
	}
	switch {
	case author == "":
		return "A model says, from data of " + strings.Join(others, ", ")
	case len(others) == 0:
		return string(author) + " says"
	default:
		return string(author) + " says, with data of " + strings.Join(others, ", ")
	}
}

// isPlainScalar says whether v is no string and has no parts.
func isPlainScalar(v json.RawMessage) bool {
	return len(v) > 0 && v[0] != '"' && v[0] != '{' && v[0] != '['
}

// readable is a value as lines: scalars as they are, else a line for each leaf.
func readable(v json.RawMessage) string {
	if len(v) > 0 && v[0] != '{' && v[0] != '[' {
		return plain(v)
	}
	var lines []string
	leaves(v, "", func(at string, leaf json.RawMessage) bool {
		lines = append(lines, strings.ReplaceAll(unescapePointer(strings.TrimPrefix(at, "/")), "/", " ")+": "+plain(leaf))
		return true
	})
	if len(lines) == 0 {
		return "nothing"
	}
	return strings.Join(lines, "\n")
}

// facts attributes the values that a reference shows to the apps that returned
// them: directly, or through what was selected or decided from them.
func (w *rendering) facts(v planner.Ref, seen map[string]bool) {
	r := w.scope.results[v.Step]
	got, err := w.scope.ref(v)
	if err != nil || seen[v.Step] {
		return
	}
	seen[v.Step] = true
	if r.app != "" {
		w.leafFacts(r, v.Step, v.Pointer, got.json)
		return
	}
	for _, s := range w.job.plan.Steps {
		if s.ID != v.Step {
			continue
		}
		for _, from := range refsOf(s.Do) {
			w.facts(from, seen)
		}
	}
}

func (w *rendering) leafFacts(r *result, step, pointer string, v json.RawMessage) {
	leaves(v, pointer, func(at string, leaf json.RawMessage) bool {
		w.answer.Facts = append(w.answer.Facts, Fact{
			App: r.app, Functionality: r.functionality, Step: step, Pointer: at, Value: leaf,
		})
		return len(w.answer.Facts) < maxFacts
	})
}

// refsOf are the references that an action without an app works on.
func refsOf(a planner.Action) []planner.Ref {
	switch a := a.(type) {
	case planner.Decide:
		var out []planner.Ref
		for _, v := range a.Inputs {
			out = append(out, refsIn(v)...)
		}
		return out
	case planner.Where:
		return []planner.Ref{a.From}
	case planner.Best:
		return []planner.Ref{a.From}
	default:
		return nil
	}
}

func refsIn(v planner.Value) []planner.Ref {
	var out []planner.Ref
	switch v := v.(type) {
	case planner.Ref:
		out = append(out, v)
	case planner.Template:
		for _, p := range v.Parts {
			out = append(out, refsIn(p)...)
		}
	case planner.Array:
		for _, p := range v {
			out = append(out, refsIn(p)...)
		}
	case planner.Object:
		for _, p := range v.Fields {
			out = append(out, refsIn(p)...)
		}
	default: // others refer to no step
	}
	return out
}

// unfinished says in the hub's words what did not happen.
func (w *rendering) unfinished() {
	done, refused := 0, false
	for _, o := range w.answer.Steps {
		switch o.Status {
		case isc.StatusDone:
			done++
		case isc.StatusSkipped:
		default:
			refused = refused || o.Status == isc.StatusRefused
			w.text.WriteString("\nNot done: " + stepName(o) + " (" + o.Reason + ").")
		}
	}
	w.answer.Refused = done == 0 && refused
}

func stepName(o StepOutcome) string {
	switch {
	case o.Functionality != "" && o.App != "":
		return string(o.Functionality) + " by " + string(o.App)
	case o.Functionality != "":
		return string(o.Functionality)
	case o.App != "":
		return "the task of " + string(o.App)
	default:
		return "step " + o.Step
	}
}
