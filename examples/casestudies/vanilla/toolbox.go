package vanilla

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	_ "embed" // the prompt
	"text/template"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/spoke"
)

//go:embed prompts/system.tmpl
var systemText string

var systemTemplate = template.Must(template.New("system").Parse(systemText))

// answerAction is the action by which a model without tool calls answers.
const answerAction = "answer"

// tool is a functionality under the name that the model knows: the app's id, two
// underscores, the functionality's name.
type tool struct {
	llm.Tool
	app           spoke.App
	functionality isc.Functionality
}

type toolbox struct{ tools []tool }

// newToolbox has every functionality that a handler serves. Those of an app's
// own model are left to the agent's, which has the app's instructions.
func newToolbox(apps []spoke.App) *toolbox {
	b := &toolbox{}
	for _, app := range apps {
		m := app.Manifest()
		for _, f := range m.Functionalities {
			if f.Agent {
				continue
			}
			name := flat(string(m.ID)) + "__" + flat(string(f.Name))
			b.tools = append(b.tools, tool{llm.Tool{Name: name, Description: f.Description, Parameters: f.Request.Schema()}, app, f})
		}
	}
	return b
}

// flat is a name in the letters that the usual servers take.
func flat(name string) string { return strings.NewReplacer(".", "_", "-", "_").Replace(name) }

func (b *toolbox) offered() []llm.Tool {
	out := make([]llm.Tool, len(b.tools))
	for i, t := range b.tools {
		out[i] = t.Tool
	}
	return out
}

func (b *toolbox) find(name string) (tool, bool) {
	for _, t := range b.tools {
		if t.Name == name {
			return t, true
		}
	}
	return tool{}, false
}

// serving is the tool of the first app with that functionality.
func (b *toolbox) serving(name isc.FunctionalityName) (tool, bool) {
	for _, t := range b.tools {
		if t.functionality.Name == name {
			return t, true
		}
	}
	return tool{}, false
}

// actionSchema has one alternative a tool and one for the answer.
func (b *toolbox) actionSchema() json.RawMessage {
	alternatives := []string{action(answerAction, json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}`))}
	for _, t := range b.tools {
		alternatives = append(alternatives, action(t.Name, t.Parameters))
	}
	return json.RawMessage(`{"anyOf":[` + strings.Join(alternatives, ",") + `]}`)
}

func action(name string, arguments json.RawMessage) string {
	return fmt.Sprintf(`{"type":"object","properties":{"action":{"const":%q},"arguments":%s},"required":["action","arguments"],"additionalProperties":false}`, name, arguments)
}

func systemPrompt(apps []spoke.App, b *toolbox, native bool) (string, error) {
	var in struct {
		Apps  []isc.Manifest
		Tools []tool
	}
	for _, app := range apps {
		in.Apps = append(in.Apps, app.Manifest())
	}
	if !native {
		in.Tools = b.tools
	}
	var out bytes.Buffer
	if err := systemTemplate.Execute(&out, in); err != nil {
		return "", fmt.Errorf("vanilla: prompt: %w", err)
	}
	return strings.TrimSpace(out.String()), nil
}

// call runs a tool. What went wrong is the result: the model is to go on.
// Before is how much of the conversation was there when the model asked.
func (a *Agent) call(ctx context.Context, before int, name string, arguments json.RawMessage) string {
	t, ok := a.tools.find(name)
	if !ok {
		return failure("there is no tool of that name")
	}
	body, err := t.functionality.Request.Check(arguments)
	if err != nil {
		return failure(err.Error())
	}
	this := name + " " + string(body)
	if a.made[this] {
		return failure("this call was made before; its result stands above")
	}
	result, err := t.app.Handle(ctx, spoke.Call{Functionality: t.functionality.Name, Body: body, Hub: &conversation{a, before}})
	if err != nil {
		return failure(err.Error())
	}
	a.made[this] = true
	return string(result)
}

func failure(text string) string {
	raw, err := json.Marshal(map[string]string{"error": text})
	if err != nil {
		return `{"error":"failed"}`
	}
	return string(raw)
}

// takeAction reads one action of a model without tool calls.
func (a *Agent) takeAction(ctx context.Context, before int, text string) (answer string, done bool) {
	var act struct {
		Action    string          `json:"action"`
		Name      string          `json:"name"` // models that were trained on tool calls say this
		Arguments json.RawMessage `json:"arguments"`
	}
	raw, err := llm.Extract(text)
	if err != nil || json.Unmarshal(raw, &act) != nil || act.Action+act.Name == "" {
		a.say(llm.User, "Your last reply could not be used: it was not one JSON object with \"action\" and \"arguments\". Reply again.")
		return "", false
	}
	if act.Action == "" {
		act.Action = act.Name
	}
	if act.Action == answerAction {
		return a.takeAnswer(act.Arguments)
	}
	a.say(llm.User, "Result of "+act.Action+": "+a.call(ctx, before, act.Action, act.Arguments))
	return "", false
}

func (a *Agent) takeAnswer(arguments json.RawMessage) (answer string, done bool) {
	var said struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(arguments, &said) != nil || said.Text == "" {
		a.say(llm.User, "Your answer had no \"text\". Reply again.")
		return "", false
	}
	return said.Text, true
}
