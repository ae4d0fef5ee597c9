package spoke

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/llm"
)

type toolKind uint8

const (
	_          toolKind = iota
	ownTool             // a functionality of the app
	otherTool           // a functionality of some other app, through the hub
	needTool            // data of the user
	finishTool          // the answer
)

// The names of the two tools that every agent has.
const (
	needName   = "need_data"
	finishName = "finish"
)

// tool is one thing that the agent can do, under the name the model knows.
type tool struct {
	name          string
	kind          toolKind
	functionality isc.Functionality // of ownTool whole; of otherTool the name and formats that were shown
	description   string
	parameters    json.RawMessage
}

// toolbox is what an agent can do in one task. A model's name for a tool is
// looked up here, never taken apart.
type toolbox struct {
	tools  []tool
	byName map[string]int
	canAct bool // there is more than need and finish
}

// newToolbox has the app's functionalities that handlers serve, then what the
// task may ask of others, then the two that every agent has. What the agent
// itself serves is left out: it would call itself.
func newToolbox(m isc.Manifest, j job) *toolbox {
	b := &toolbox{byName: map[string]int{needName: -1, finishName: -1}}
	for _, f := range m.Functionalities {
		if !f.Agent {
			b.add(tool{name: b.free(string(f.Name)), kind: ownTool, functionality: f, description: f.Description, parameters: f.Request.Schema()})
		}
	}
	for _, k := range j.may {
		if t, ok := otherOf(k, j.formats); ok {
			t.name = b.free(string(k.Functionality))
			b.add(t)
		}
	}
	b.canAct = len(b.tools) > 0
	b.add(tool{name: needName, kind: needTool,
		description: "Ask the user's system for data of the user that you lack, by name, and say what for. It may be refused.",
		parameters:  json.RawMessage(needSchema)})
	b.add(tool{name: finishName, kind: finishTool,
		description: "End the task and give the answer.",
		parameters:  answerSchema(j.answer)})
	return b
}

const needSchema = `{"type":"object","properties":{"fields":{"type":"array","minItems":1,"maxItems":16,"items":` +
	`{"type":"object","properties":{"name":{"type":"string"},"purpose":{"type":"string"}},"required":["name","purpose"],"additionalProperties":false}` +
	`}},"required":["fields"],"additionalProperties":false}`

// otherOf is what the catalogue says of a functionality that others serve. One
// whose formats do not parse is not offered.
func otherOf(k isc.Known, formats *formatCache) (tool, bool) {
	request, err := formats.parse(k.Request)
	if err != nil {
		return tool{}, false
	}
	response, err := formats.parse(k.Response)
	if err != nil {
		return tool{}, false
	}
	description := "Served by another app; it may be refused."
	if k.Description != "" {
		description = k.Description + " (" + description + ")"
	}
	return tool{
		kind:          otherTool,
		functionality: isc.Functionality{Name: k.Functionality, Request: request, Response: response},
		description:   description,
		parameters:    request.Schema(),
	}, true
}

func (b *toolbox) add(t tool) {
	b.byName[t.name] = len(b.tools)
	b.tools = append(b.tools, t)
}

func (b *toolbox) find(name string) (tool, bool) {
	i, ok := b.byName[name]
	if !ok || i < 0 {
		return tool{}, false
	}
	return b.tools[i], true
}

// maxToolName is the bound of the usual servers, in bytes.
const maxToolName = 64

// free is a name for a tool that servers accept and no other tool has.
func (b *toolbox) free(name string) string {
	flat := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		default:
			return '_'
		}
	}, name)
	flat = flat[:min(len(flat), maxToolName)]
	candidate := flat
	for i := 2; ; i++ {
		if _, taken := b.byName[candidate]; !taken {
			return candidate
		}
		suffix := fmt.Sprintf("_%d", i)
		candidate = flat[:min(len(flat), maxToolName-len(suffix))] + suffix
	}
}

// offered are the tools as a model with tool calls takes them.
func (b *toolbox) offered() []llm.Tool {
	out := make([]llm.Tool, len(b.tools))
	for i, t := range b.tools {
		out[i] = llm.Tool{Name: t.name, Description: t.description, Parameters: slices.Clone(t.parameters)}
	}
	return out
}

// actionSchema has one alternative a tool, for models without tool calls.
func (b *toolbox) actionSchema() json.RawMessage {
	alternatives := make([]string, len(b.tools))
	for i, t := range b.tools {
		parameters := t.parameters
		if strings.Contains(string(parameters), `"$ref"`) {
			parameters = json.RawMessage(`{"type":"object"}`)
		}
		alternatives[i] = fmt.Sprintf(`{"type":"object","properties":{"action":{"const":%q},"arguments":%s},`+
			`"required":["action","arguments"],"additionalProperties":false}`, t.name, parameters)
	}
	return json.RawMessage(`{"anyOf":[` + strings.Join(alternatives, ",") + `]}`)
}
