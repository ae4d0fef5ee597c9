package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/isolategpt/isolategpt/planner"
)

// planLines is a plan for a person: a line a step, and what the answer shows.
func planLines(p *planner.Plan) []string {
	var out []string
	for _, s := range p.Steps {
		line := s.ID + ": " + actionText(s.Do)
		if s.When != nil {
			line += ", under a condition"
		}
		out = append(out, line)
	}
	return append(out, "answer: "+valueText(p.Answer))
}

func actionText(do planner.Action) string {
	switch do := do.(type) {
	case planner.Call:
		text := do.Functionality
		if do.App != "" {
			text += " of " + string(do.App)
		}
		for _, name := range slices.Sorted(maps.Keys(do.Args)) {
			text += " " + name + "=" + valueText(do.Args[name])
		}
		if do.Each != nil {
			text += " for each of " + valueText(*do.Each)
		}
		return text
	case planner.Delegate:
		return strings.TrimSuffix(fmt.Sprintf("hand to %s: %q with %s", do.App, do.Task, valuesText(do.Inputs)), " with ")
	case planner.Decide:
		return strings.TrimSuffix(fmt.Sprintf("a model answers %q from %s", do.Question, valuesText(do.Inputs)), " from ")
	case planner.Where:
		return "select from " + valueText(do.From)
	case planner.Best:
		return "the best of " + valueText(do.From)
	case planner.Ask:
		return "ask the user " + valueText(do.Question)
	default:
		return "nothing"
	}
}

func valuesText(values []planner.Value) string {
	var out []string
	for _, v := range values {
		out = append(out, valueText(v))
	}
	return strings.Join(out, ", ")
}

func valueText(v planner.Value) string {
	switch v := v.(type) {
	case planner.Literal:
		return string(v.JSON)
	case planner.Ref:
		return "<" + v.Step + v.Pointer + ">"
	case planner.Memory:
		return "<memory " + v.Key + ">"
	case planner.Item:
		return "<element" + v.Pointer + ">"
	case planner.Template:
		out := ""
		for _, part := range v.Parts {
			out += partText(part)
		}
		return out
	default:
		return "<several values>"
	}
}

// partText is a part of a template: words stand without quotes.
func partText(part planner.Value) string {
	var words string
	if l, ok := part.(planner.Literal); ok && json.Unmarshal(l.JSON, &words) == nil {
		return strings.ReplaceAll(words, "\n", " / ")
	}
	return valueText(part)
}
