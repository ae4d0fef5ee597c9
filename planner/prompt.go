package planner

import (
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
	promptForms  = template.Must(template.ParseFS(promptFiles, "prompts/repair.tmpl"))
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

// catalogueText is the part of the request message that tells of the
// catalogue: names, types and vouched texts.
func catalogueText(v view) string {
	var b strings.Builder
	b.WriteString("Functionalities\n")
	for _, c := range v.cards {
		b.WriteString(c.signature + "\n")
	}
	if len(v.cards) == 0 {
		b.WriteString("(none)\n")
	}
	var agents, names []string
	for _, a := range v.apps {
		if a.Agent {
			agents = append(agents, "- "+string(a.ID)+described(a.Name, a.Description))
		} else if a.Name != "" {
			names = append(names, "- "+string(a.ID)+": "+oneLine(a.Name))
		}
	}
	var spokes []string
	for _, s := range v.spokes {
		line := "- " + s.Name
		if s.Description != "" {
			line += ": " + s.Description
		}
		spokes = append(spokes, line)
	}
	writeList(&b, "Apps that take tasks", agents)
	writeList(&b, `Specialists for a decide ("spoke")`, spokes)
	writeList(&b, "Names of apps", names)
	return b.String()
}

// writeList writes a heading and its lines, or nothing if there are none.
func writeList(b *strings.Builder, heading string, lines []string) {
	if len(lines) == 0 {
		return
	}
	b.WriteString("\n" + heading + "\n")
	for _, line := range lines {
		b.WriteString(line)
		b.WriteByte('\n')
	}
}

// requestMessage is the last message of a planning prompt. It is made of the
// user's words, names, types and vouched texts.
func requestMessage(in Input, v view, keys []string) llm.Message {
	var b strings.Builder
	b.Grow(len(v.text) + len(in.Query) + 1024)
	b.WriteString(v.text)
	b.WriteString("\nValues known by name, as {\"memory\":NAME}: ")
	for i, k := range keys {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(k)
	}
	b.WriteByte('\n')
	if !in.Today.IsZero() {
		b.WriteString("Today is " + in.Today.Format("Monday, "+time.DateOnly) + " (" + in.Today.Location().String() + ").\n")
	}
	turns := in.Turns[max(0, len(in.Turns)-maxTurns):]
	if len(turns) > 0 {
		b.WriteString("\nEarlier requests of the user\n")
	}
	for _, turn := range turns {
		b.WriteString("- ")
		b.WriteString(oneLine(turn))
		b.WriteByte('\n')
	}
	var failed []string
	for _, o := range in.Failed {
		failed = append(failed, fmt.Sprintf("- %s %s: %s", shownStep(o.Step), shownName(o.Functionality), o.Status))
	}
	writeList(&b, "An earlier plan for this request did not work out", failed)
	b.WriteString("\nRequest:\n")
	b.WriteString(in.Query)
	return llm.Message{Role: llm.User, Text: strings.TrimSpace(b.String())}
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
