package planner

import (
	"bytes"
	"embed"
	"fmt"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/llm"
)

//go:embed prompts
var promptFiles embed.FS

var (
	systemPrompt = promptText("system.tmpl")
	matchPrompt  = promptText("match.tmpl")
	promptForms  = template.Must(template.ParseFS(promptFiles, "prompts/request.tmpl", "prompts/repair.tmpl"))
	examples     = exampleTurns(promptText("examples.txtar"))
)

func promptText(name string) string {
	raw, err := promptFiles.ReadFile("prompts/" + name)
	if err != nil {
		panic(err) // embedded at build time
	}
	return strings.TrimSpace(string(raw))
}

// exampleTurns are the worked examples as a conversation. The file is a txtar
// archive: a comment, then sections that start with "-- name --".
func exampleTurns(archive string) []llm.Message {
	var out []llm.Message
	role := llm.Role(0)
	var text []string
	flush := func() {
		if role != 0 {
			out = append(out, llm.Message{Role: role, Text: strings.TrimSpace(strings.Join(text, "\n"))})
		}
		text = nil
	}
	for line := range strings.SplitSeq(archive, "\n") {
		if !strings.HasPrefix(line, "-- ") {
			text = append(text, line)
			continue
		}
		flush()
		role = llm.User
		if strings.HasPrefix(line, "-- plan") {
			role = llm.Assistant
		}
	}
	flush()
	return out
}

// requestData is what the last message of a planning prompt is made from. It
// holds the user's words, names, types and vouched texts.
type requestData struct {
	Cards, Apps, Names, Keys []string
	Spokes                   []Vanilla
	Today, Query             string
	Turns, Failed            []string
}

func requestMessage(in Input, v view) (llm.Message, error) {
	d := requestData{Query: in.Query, Keys: planKeys(in.MemoryKeys), Spokes: v.spokes}
	for _, turn := range in.Turns[max(0, len(in.Turns)-maxTurns):] {
		d.Turns = append(d.Turns, oneLine(turn))
	}
	for _, c := range v.cards {
		d.Cards = append(d.Cards, c.signature)
	}
	for _, a := range v.apps {
		if a.Agent {
			d.Apps = append(d.Apps, "- "+string(a.ID)+described(a.Name, a.Description))
		} else if a.Name != "" {
			d.Names = append(d.Names, "- "+string(a.ID)+": "+oneLine(a.Name))
		}
	}
	if !in.Today.IsZero() {
		d.Today = in.Today.Format("Monday, "+time.DateOnly) + " (" + in.Today.Location().String() + ")"
	}
	for _, o := range in.Failed {
		d.Failed = append(d.Failed, fmt.Sprintf("- %s %s: %s", shownStep(o.Step), shownName(o.Functionality), o.Status))
	}
	var b bytes.Buffer
	if err := promptForms.ExecuteTemplate(&b, "request.tmpl", d); err != nil {
		return llm.Message{}, fmt.Errorf("planner: prompt: %w", err)
	}
	return llm.Message{Role: llm.User, Text: strings.TrimSpace(b.String())}, nil
}

func described(name, text string) string {
	name, text = oneLine(name), oneLine(text)
	switch {
	case name != "" && text != "":
		return " (" + name + "): " + text
	case name != "":
		return " (" + name + ")"
	case text != "":
		return ": " + text
	}
	return ""
}

// Bounds of what a prompt shows of the conversation and of memory.
const (
	maxTurns = 8
	maxKeys  = 64
)

// planKeys are the memory keys that may be shown: names that are names, today
// first, then the first 64 of the others in their order.
func planKeys(keys []string) []string {
	out := []string{}
	for _, k := range keys {
		if plainName.MatchString(k) && k != Today {
			out = append(out, k)
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return append([]string{Today}, out[:min(len(out), maxKeys)]...)
}

func shownStep(id string) string {
	if stepID.MatchString(id) {
		return id
	}
	return "a step"
}

// shownName is the name of an entry, "name" or "app/name", if it is one.
func shownName(name string) string {
	app, f, own := strings.Cut(name, "/")
	if !own {
		app, f = "app", name
	}
	if isc.AppID(app).Validate() != nil || isc.FunctionalityName(f).Validate() != nil {
		return ""
	}
	return name
}
