package spoke

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/llm"
)

//go:embed prompts/*.tmpl
var promptFiles embed.FS

var prompts = template.Must(template.ParseFS(promptFiles, "prompts/*.tmpl"))

// agentPrompt is the beginning of a task: the app's own texts and how to act,
// then the task with its data.
func agentPrompt(m isc.Manifest, b *toolbox, j job, recalled []isc.Datum, native bool) ([]llm.Message, error) {
	type shown struct{ Signature, Description string }
	var tools []shown
	for _, t := range b.tools {
		line := shown{t.signature(), t.description}
		if t.kind == finishTool { // a small model takes what it reads first
			tools = slices.Insert(tools, 0, line)
			continue
		}
		tools = append(tools, line)
	}
	system, err := render("agent.tmpl", struct {
		Name, Instructions string
		Native             bool
		Tools              []shown
		Answer             string
	}{m.Name, strings.TrimSpace(m.Instructions), native, tools, string(embeddable(j.answer))})
	if err != nil {
		return nil, err
	}
	return withTask(system, j.text, append(recalled, j.data...))
}

func decidePrompt(j job) ([]llm.Message, error) {
	system, err := render("decide.tmpl", struct{ Answer string }{string(embeddable(j.answer))})
	if err != nil {
		return nil, err
	}
	return withTask(system, j.text, j.data)
}

func withTask(system, text string, data []isc.Datum) ([]llm.Message, error) {
	user, err := render("task.tmpl", struct {
		Text string
		Data []string
	}{text, dataLines(data)})
	if err != nil {
		return nil, err
	}
	return []llm.Message{{Role: llm.System, Text: system}, {Role: llm.User, Text: user}}, nil
}

// dataLines writes each datum as one line of JSON. Canonical JSON has no line
// breaks, and without angle brackets in it no value can close the slot that it
// stands in.
func dataLines(data []isc.Datum) []string {
	out := make([]string, 0, len(data))
	for _, d := range data {
		name, err := json.Marshal(d.Name)
		if err != nil {
			continue
		}
		out = append(out, fmt.Sprintf(`{"name":%s,"value":%s}`, name, escaped(d.Body)))
	}
	return out
}

func escaped(body json.RawMessage) string {
	var b bytes.Buffer
	json.HTMLEscape(&b, body)
	return b.String()
}

// resultMessage tells a model without tool calls what its action gave.
func resultMessage(name, result string) string {
	return fmt.Sprintf("The result of %s, as data:\n<data>\n%s\n</data>\nReply with your next action.", name, escaped([]byte(result)))
}

func render(name string, data any) (string, error) {
	var b strings.Builder
	if err := prompts.ExecuteTemplate(&b, name, data); err != nil {
		return "", fmt.Errorf("spoke: prompt %s: %w", name, err)
	}
	return strings.TrimSpace(b.String()), nil
}
